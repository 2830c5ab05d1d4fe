//! A statement before it is built: [what it means](meaning), [as the library says it](building), and
//! [any of them](any).

mod any;
mod building;
mod meaning;

use update_if::Resource;

pub(crate) use self::any::{others, plan, things};

/// A row, as the plain evaluator keeps it.
#[derive(Debug, Clone, PartialEq, Resource)]
#[resource(table = "things")]
pub(crate) struct Thing {
    #[resource(key)]
    pub(crate) id: i64,
    pub(crate) a: Option<i64>,
    pub(crate) b: Option<i64>,
    pub(crate) s: Option<String>,
    pub(crate) t: Option<String>,
}

/// A row of another table.
#[derive(Debug, Clone, PartialEq, Resource)]
#[resource(table = "others")]
pub(crate) struct Other {
    #[resource(key)]
    pub(crate) id: i64,
    pub(crate) thing_id: i64,
    pub(crate) n: Option<i64>,
}

/// A statement, before it is built.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) key: Option<i64>,
    pub(crate) a: Option<Int>,
    pub(crate) b: Option<Int>,
    pub(crate) s: Option<Text>,
    pub(crate) t: Option<Text>,
    pub(crate) conditions: Vec<Test>,
    pub(crate) order: Vec<&'static str>,
    pub(crate) cinder: bool,
}

#[derive(Debug, Clone)]
pub(crate) enum Int {
    Literal(Option<i64>),
    A,
    B,
    Add(Box<Int>, Box<Int>),
    Subtract(Box<Int>, Box<Int>),
    Multiply(Box<Int>, Box<Int>),
    Case(Vec<(Test, Int)>, Option<Box<Int>>),
}

#[derive(Debug, Clone)]
pub(crate) enum Text {
    Literal(Option<String>),
    S,
    T,
    Case(Vec<(Test, Text)>, Option<Box<Text>>),
}

#[derive(Debug, Clone)]
pub(crate) enum Test {
    Int(bool, Expect<i64>),
    Text(bool, Expect<String>),
    CompareInt(bool, u8, Int),
    CompareText(bool, u8, Text),
    All(Vec<Test>),
    Any(Vec<Test>),
    Not(Box<Test>),
    /// There is another row of the other table, ours or anybody's, with n at least this.
    Other(bool, i64),
    /// There is another row of the same table with b equal to our a.
    Same(Option<String>),
}

#[derive(Debug, Clone)]
pub(crate) enum Expect<T> {
    Value(Option<T>),
    AnyOf(Vec<Option<T>>),
    NotValue(Option<T>, bool),
    NoneOf(Vec<Option<T>>, bool),
}
