//! Operators that look into strings: cases and stop words, parts, patterns, and counts of
//! sequences of words.

use std::collections::HashMap;

use isoform::values::Bytes;
use isoform_kernels::{ElementType, Tensor, create};

use super::dense::{Dense, Work};
use super::kernel::Kernel;
use super::pattern;
use crate::eval::args::Args;
use crate::eval::refusal::Refusal;
use crate::eval::results::{OpResult, Outcome, string_tensor};
use crate::eval::strings::sizes;

pub(super) fn find(name: &str) -> Option<Kernel> {
    Some(match name {
        "StringNormalizer" => normalizer,
        "StringSplit" => split,
        "RegexFullMatch" => pattern::full_match,
        "TfIdfVectorizer" => tf_idf,
        _ => return None,
    })
}

/// A tensor of strings, within the limit of memory for as many handles.
pub(super) fn made(
    args: &Args<'_>,
    shape: Vec<usize>,
    texts: Vec<Bytes>,
) -> Result<OpResult, Refusal> {
    limit(args, &shape)?;
    Ok(OpResult::Value(string_tensor(&shape, texts.into())))
}

/// Refuses more strings than there is memory for handles.
pub(super) fn limit(args: &Args<'_>, shape: &[usize]) -> Result<(), Refusal> {
    create::full(shape, Tensor::scalar(0_u64).view(), args.control)?;
    Ok(())
}

/// The languages whose letters have other cases.
const TURKIC: [&str; 3] = ["tr", "az", "lt"];

enum Case {
    Same,
    Lower,
    Upper,
}

/// Removes stop words, and changes the case of the rest.
///
/// The case of a letter depends on the locale, so only ASCII letters are changed, in
/// locales that agree on the case of ASCII letters. Runtimes also disagree about
/// accents: some runtimes remove accents.
fn normalizer(args: &Args<'_>) -> Outcome {
    let x = args.texts(0)?;
    let shape = sizes(&x.shape)?;
    if !matches!(shape[..], [_] | [1, _]) {
        return Err(args.fault(format!(
            "expected strings of shape [C] or [1, C], got {shape:?}"
        )));
    }
    let case = match &*args.text("case_change_action", "NONE")? {
        "NONE" => Case::Same,
        "LOWER" => Case::Lower,
        "UPPER" => Case::Upper,
        other => {
            return Err(args.fault(format!("expected NONE, LOWER or UPPER, got '{other}'")));
        }
    };
    let locale = args.text("locale", "")?;
    let stops = args.text_list("stopwords")?.unwrap_or_default();
    let is_exact = args.flag("is_case_sensitive", false)?;
    let changes = !matches!(case, Case::Same) || !(is_exact || stops.is_empty());
    let mut all = x.values.iter().chain(&stops);
    if changes
        && (TURKIC.iter().any(|language| locale.starts_with(language))
            || all.any(|text| !text.is_ascii()))
    {
        return Err(args
            .fault("the case of letters outside of ASCII depends on the locale and the runtime"));
    }
    let is_stop = |text: &Bytes| {
        if is_exact {
            stops.iter().any(|stop| stop[..] == text[..])
        } else {
            stops.iter().any(|stop| stop.eq_ignore_ascii_case(text))
        }
    };
    let mut work = Work::new(args.control);
    let mut kept = Vec::new();
    for text in x.values.iter() {
        work.advance(stops.len() + text.len() + 1)?;
        if is_stop(text) {
            continue;
        }
        kept.push(match case {
            Case::Same => text.clone(),
            Case::Lower => Bytes::from(text.to_ascii_lowercase()),
            Case::Upper => Bytes::from(text.to_ascii_uppercase()),
        });
    }
    if kept.is_empty() {
        kept.push(Bytes::from(Vec::new()));
    }
    let mut out = shape;
    if let Some(last) = out.last_mut() {
        *last = kept.len();
    }
    Ok(vec![made(args, out, kept)?])
}

/// The parts between delimiters; runs of white space by default, which leave no empty part.
fn parts<'t>(text: &'t [u8], delimiter: &[u8], most: usize) -> Vec<&'t [u8]> {
    let mut parts = Vec::new();
    let mut rest = text;
    if delimiter.is_empty() {
        loop {
            rest = rest.trim_ascii_start();
            if rest.is_empty() {
                return parts;
            }
            let end = rest
                .iter()
                .position(u8::is_ascii_whitespace)
                .filter(|_| parts.len() < most)
                .unwrap_or(rest.len());
            let (part, after) = rest.split_at(end);
            parts.push(part);
            rest = after;
        }
    }
    while parts.len() < most
        && let Some(end) = rest
            .windows(delimiter.len())
            .position(|window| window == delimiter)
    {
        parts.push(&rest[..end]);
        rest = &rest[end + delimiter.len()..];
    }
    parts.push(rest);
    parts
}

fn split(args: &Args<'_>) -> Outcome {
    let x = args.texts(0)?;
    let mut shape = sizes(&x.shape)?;
    let delimiter = args.text("delimiter", "")?;
    let most = match args.call.int("maxsplit")? {
        None => usize::MAX,
        Some(most) => usize::try_from(most)
            .map_err(|_| args.fault(format!("expected a maxsplit of 0 or more, got {most}")))?,
    };
    let mut work = Work::new(args.control);
    let mut all = Vec::new();
    for text in x.values.iter() {
        // Runtimes differ about further white space.
        if delimiter.is_empty() && has_rare_space(text) {
            return Err(
                args.fault("runtimes differ in white space other than blanks, tabs and line ends")
            );
        }
        if !delimiter.is_empty() && text.is_empty() {
            return Err(args.fault("runtimes differ in the parts of an empty string"));
        }
        all.push(parts(text, delimiter.as_bytes(), most));
        work.advance((text.len() + 1) * delimiter.len().max(1))?;
    }
    let counts: Vec<i64> = all.iter().map(|parts| parts.len() as i64).collect();
    let widest = all.iter().map(Vec::len).max().unwrap_or(0);
    let numbers = isoform_kernels::from_i64s(&counts, ElementType::Int64, &shape, args.control)?;
    shape.push(widest);
    limit(args, &shape)?;
    let empty = Bytes::from(Vec::new());
    let mut texts = Vec::with_capacity(all.len() * widest);
    for parts in all {
        let missing = widest - parts.len();
        texts.extend(parts.into_iter().map(|part| Bytes::from(part.to_vec())));
        texts.extend(std::iter::repeat_n(empty.clone(), missing));
        work.advance(widest)?;
    }
    Ok(vec![made(args, shape, texts)?, numbers.into()])
}

/// True if a text has white space known only to some runtimes, or is not UTF-8.
fn has_rare_space(text: &[u8]) -> bool {
    std::str::from_utf8(text).map_or(true, |text| {
        text.chars().any(|c| {
            let is_common = matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0c');
            !is_common && (c.is_whitespace() || matches!(c, '\x0b' | '\x1c'..='\x1f'))
        })
    })
}

/// The words of a pool or an input, as numbers.
enum Words<'a> {
    Numbers(Vec<i64>),
    Texts(Vec<&'a [u8]>),
}

/// A sequence of words: the numbers of its prefix and of its last word.
type Trie<W> = HashMap<(usize, W), usize>;

/// Counts the occurrences of word sequences, with gaps of up to a given number of
/// words.
fn tf_idf(args: &Args<'_>) -> Outcome {
    let required = |name: &str| {
        args.ints(name)?
            .ok_or_else(|| args.fault(format!("expected attribute '{name}'")))
    };
    let starts = sizes(&required("ngram_counts")?)?;
    let places = sizes(&required("ngram_indexes")?)?;
    let weights = args.floats("weights")?.unwrap_or_default();
    let counting = Counting {
        shortest: args.size("min_gram_length", 0)?,
        longest: args.size("max_gram_length", 0)?,
        skips: args.size("max_skip_count", 0)?,
        starts,
        places,
    };
    if counting.shortest == 0 || counting.longest < counting.shortest {
        return Err(args.fault(format!(
            "expected sequences of 1 or more words, got {} to {}",
            counting.shortest, counting.longest
        )));
    }
    let pool_texts = args.text_list("pool_strings")?.unwrap_or_default();
    let (pool, words) = if args.is_string(0) {
        let pool = pool_texts.iter().map(|text| &text[..]).collect();
        let words = args.texts(0)?.values.iter().map(|text| &text[..]).collect();
        (Words::Texts(pool), Words::Texts(words))
    } else {
        let pool = args.ints("pool_int64s")?.unwrap_or_default();
        (Words::Numbers(pool), Words::Numbers(args.input_ints(0)?))
    };
    let shape = args.input(0)?.shape();
    let (rows, length) = match *shape {
        [] => (1, 1),
        [length] => (1, length),
        [rows, length] => (rows, length),
        _ => return Err(args.fault(format!("expected rank 1 or 2, got {shape:?}"))),
    };
    let width = counting
        .places
        .iter()
        .max()
        .map_or(0, |most| most.saturating_add(1));
    let mut out = vec![width];
    if shape.len() == 2 {
        out.insert(0, rows);
    }
    let mut result = Dense::filled(out, 0.0, args.control)?;
    match (pool, words) {
        (Words::Numbers(pool), Words::Numbers(words)) => {
            counting.count(args, &pool, &words, length, &mut result.data, width)?;
        }
        (Words::Texts(pool), Words::Texts(words)) => {
            counting.count(args, &pool, &words, length, &mut result.data, width)?;
        }
        _ => return Err(args.fault("expected a pool of the type of the input")),
    }
    let (weighs, counts) = match &*args.text("mode", "")? {
        "TF" => (false, true),
        "IDF" => (true, false),
        "TFIDF" => (true, true),
        other => return Err(args.fault(format!("expected TF, IDF or TFIDF, got '{other}'"))),
    };
    let mut of_place = vec![1.0; width];
    if weighs && !weights.is_empty() {
        let places = &counting.places;
        if weights.len() != places.len() {
            let (wanted, weight_count) = (places.len(), weights.len());
            return Err(args.fault(format!("expected {wanted} weights, got {weight_count}")));
        }
        // The weights are in the order of the pool, not in the order of the places.
        for (&place, weight) in places.iter().zip(weights) {
            of_place[place] = weight;
        }
    }
    for (index, value) in result.data.iter_mut().enumerate() {
        let count = if counts { *value } else { value.min(1.0) };
        *value = count * if weighs { of_place[index % width] } else { 1.0 };
    }
    Ok(vec![result.made(ElementType::Float32, args.control)?])
}

/// The sequences of words to count.
struct Counting {
    shortest: usize,
    longest: usize,
    skips: usize,
    /// For each length, the start of its sequences in the pool.
    starts: Vec<usize>,
    /// The place of the count of each sequence.
    places: Vec<usize>,
}

impl Counting {
    /// The sequences of the pool. The empty sequence has number 0.
    fn trie<W: Copy + Eq + std::hash::Hash>(
        &self,
        args: &Args<'_>,
        pool: &[W],
    ) -> Result<(Trie<W>, HashMap<usize, usize>), Refusal> {
        let (mut trie, mut ends) = (Trie::new(), HashMap::new());
        let mut number = 0;
        for (index, start) in self.starts.iter().enumerate() {
            let size = index + 1;
            let end = self.starts.get(size).copied().unwrap_or(pool.len());
            let words = pool
                .get(*start..end)
                .filter(|words| words.len() % size == 0)
                .ok_or_else(|| {
                    args.fault(format!(
                        "expected ngram_counts that divide a pool of {}, got {:?}",
                        pool.len(),
                        self.starts
                    ))
                })?;
            for words in words.chunks_exact(size) {
                let place = self.places.get(number).ok_or_else(|| {
                    args.fault(format!(
                        "expected an index for each sequence, got {}",
                        self.places.len()
                    ))
                })?;
                number += 1;
                if !(self.shortest..=self.longest).contains(&size) {
                    continue;
                }
                let mut prefix = 0;
                for word in words {
                    let next = trie.len() + 1;
                    prefix = *trie.entry((prefix, *word)).or_insert(next);
                }
                if ends.insert(prefix, *place).is_some() {
                    return Err(args.fault("expected different sequences of words"));
                }
            }
        }
        Ok((trie, ends))
    }

    fn count<W: Copy + Eq + std::hash::Hash>(
        &self,
        args: &Args<'_>,
        pool: &[W],
        words: &[W],
        length: usize,
        counts: &mut [f64],
        width: usize,
    ) -> Result<(), Refusal> {
        let (trie, ends) = self.trie(args, pool)?;
        if length == 0 || width == 0 {
            return Ok(());
        }
        let mut work = Work::new(args.control);
        for (words, counts) in words
            .chunks_exact(length)
            .zip(counts.chunks_exact_mut(width))
        {
            for gap in 1..=self.skips.saturating_add(1).min(length) {
                // Single words have no gaps, so count single words once.
                let shortest = if gap > 1 {
                    self.shortest.max(2)
                } else {
                    self.shortest
                };
                for start in 0..length {
                    let mut prefix = 0;
                    let sequence = words[start..].iter().step_by(gap).take(self.longest);
                    for (index, word) in sequence.enumerate() {
                        work.advance(1)?;
                        let Some(next) = trie.get(&(prefix, *word)) else {
                            break;
                        };
                        prefix = *next;
                        if index + 1 >= shortest
                            && let Some(place) = ends.get(&prefix)
                        {
                            counts[*place] += 1.0;
                        }
                    }
                }
            }
        }
        Ok(())
    }
}
