use isoform::node_enum;

node_enum! {
    /// Two members of one name.
    pub enum Op, OpNode = "ui.Op" {
        /// The sum.
        Add = "add",
        /// The difference.
        Sub = "add",
    }
}

node_enum! {
    /// An alias that is a name.
    pub enum Turn, TurnNode = "ui.Turn" {
        /// To the left.
        Left = "left",
        /// To the right.
        Right = "right",
    }
    aliases { "port" = Left, "left" = Right }
}

node_enum! {
    /// One alias for two members.
    pub enum Side, SideNode = "ui.Side" {
        /// Above.
        Top = "top",
        /// Below.
        Bottom = "bottom",
    }
    aliases { "end" = Top, "end" = Bottom }
}

fn main() {}
