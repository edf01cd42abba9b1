//! Tests of the importer.
