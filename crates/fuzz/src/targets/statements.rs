//! Conditional updates: whatever a program puts together is refused, or becomes one statement in
//! which every value is a placeholder and every name is in quotes.

use std::borrow::Cow;

use update_if::{
    Any, Assignment, Column, ColumnRef, Comparison, Compatibility, Condition, Deleted, Dialect,
    Expected, Expr, Kind, Moment, Nulls, Operator, Resource, Sql, Subselect, Table, Update, Value,
    case, column, exists,
};

use crate::source::Source;

/// In every text that is a value, and in no name.
const MARK: &str = "v4lue";
/// Every number that is a value is above this, and no other number is.
const NUMBERS: i64 = 7_000_000_000_000;
/// A little deeper than what is refused.
const DEPTH: usize = 70;

#[derive(Resource)]
#[resource(table = "others")]
#[allow(dead_code, reason = "only its columns are used")]
struct Other {
    #[resource(key)]
    id: i64,
    n: Option<i64>,
}

pub(crate) fn run(input: &[u8]) {
    let update = Builder { source: Source::new(input), depth: 0 }.update();
    for dialect in Dialect::ALL {
        match update.render(dialect) {
            Ok(sql) => check(&sql, dialect),
            Err(invalid) => assert!(!invalid.to_string().is_empty()),
        }
    }
}

struct Builder<'a> {
    source: Source<'a>,
    depth: usize,
}

impl Builder<'_> {
    fn update(&mut self) -> Update {
        let table = self.table();
        let mut update = Update::of(table);
        for _ in 0..self.source.below(3) {
            update = update.key(self.value());
        }
        for _ in 0..self.source.below(4) {
            update = update.set(self.assignment());
        }
        for _ in 0..self.source.below(4) {
            update = update.filter(self.condition());
        }
        if self.source.flag() {
            update = update.order([self.name()]);
        }
        if self.source.flag() {
            update = update.fenced_by_named(self.name(), self.source.number());
        }
        let deleted = [Deleted::Excluded, Deleted::Included, Deleted::Only];
        update = update.deleted(self.source.pick(&deleted));
        update.compatibility(self.source.pick(&[Compatibility::Strict, Compatibility::Cinder]))
    }

    fn table(&mut self) -> Table {
        let mut table = Table::new(self.name());
        for _ in 0..self.source.below(3) {
            table = table.key(self.name(), self.kind());
        }
        for name in ["a", "b", "c"] {
            table = table.column(name, self.kind());
        }
        match self.source.below(4) {
            1 => table.updated_at(self.name()),
            2 => table.deleted(self.name()),
            3 => table.postgres_type(self.name()),
            _ => table,
        }
    }

    fn kind(&mut self) -> Kind {
        let all = [Kind::Int, Kind::Text, Kind::Bool, Kind::Float, Kind::Bytes, Kind::Moment];
        self.source.pick(&all)
    }

    /// One of a few that fit, or anything.
    fn name(&mut self) -> Cow<'static, str> {
        match self.source.below(6) {
            0 => "a".into(),
            1 => "b".into(),
            2 => "c".into(),
            3 => "id".into(),
            4 => "things".into(),
            _ => self.source.text().replace(MARK, "").into(),
        }
    }

    fn value(&mut self) -> Value {
        match self.source.below(7) {
            0 => Value::Null,
            1 => Value::Bool(self.source.flag()),
            2 => Value::Int(NUMBERS + i64::from(self.source.byte())),
            3 => Value::Float(f64::from_bits(self.source.number())),
            4 => Value::Text(format!("{}{MARK}", self.source.text())),
            5 => Value::Bytes(self.source.some().to_vec()),
            _ => Value::Moment(Moment::from_micros(self.source.number() as i64)),
        }
    }

    fn values(&mut self) -> Vec<Value> {
        (0..self.source.below(4)).map(|_| self.value()).collect()
    }

    fn column(&mut self) -> ColumnRef {
        let table = match self.source.below(4) {
            0 | 1 => None,
            2 => Some(Cow::Borrowed("others")),
            _ => Some(self.name()),
        };
        ColumnRef { table, name: self.name() }
    }

    fn assignment(&mut self) -> Assignment {
        let set: Column<Any> = column(self.name());
        set.to(Wrapped(self.expr()))
    }

    fn expr(&mut self) -> Expr {
        let deep = self.depth >= DEPTH || self.source.is_empty();
        self.depth += 1;
        let expr = match if deep { self.source.below(3) } else { self.source.below(7) } {
            0 => Expr::Value(self.value()),
            1 => Expr::Column(self.column()),
            2 => Expr::Now,
            3 | 4 => {
                let all = [Operator::Add, Operator::Subtract, Operator::Multiply];
                let operator = self.source.pick(&all);
                Expr::Arithmetic(Box::new(self.expr()), operator, Box::new(self.expr()))
            }
            5 => {
                let mut case = case::<Any>();
                for _ in 0..self.source.below(3) {
                    case = case.when(self.condition(), Wrapped(self.expr()));
                }
                if self.source.flag() {
                    case = case.or_else(Wrapped(self.expr()));
                }
                update_if::Operand::<Any>::into_expr(case)
            }
            _ => {
                let condition = self.condition();
                update_if::Operand::<i64>::into_expr(Other::N.of_row(condition))
            }
        };
        self.depth -= 1;
        expr
    }

    fn condition(&mut self) -> Condition {
        let deep = self.depth >= DEPTH || self.source.is_empty();
        self.depth += 1;
        let condition = match if deep { self.source.below(2) } else { self.source.below(7) } {
            0 => Condition::Is(self.column(), self.expected()),
            1 => {
                let all = [
                    Comparison::Equal,
                    Comparison::Different,
                    Comparison::Less,
                    Comparison::AtMost,
                    Comparison::Greater,
                    Comparison::AtLeast,
                ];
                let comparison = self.source.pick(&all);
                Condition::Compare(self.expr(), comparison, self.expr())
            }
            2 => Condition::All(self.conditions()),
            3 => Condition::Any(self.conditions()),
            4 => Condition::Not(Box::new(self.condition())),
            5 => Condition::Exists(Box::new(self.subselect())),
            _ => Condition::Because(MARK.to_owned(), Box::new(self.condition())),
        };
        self.depth -= 1;
        condition
    }

    fn conditions(&mut self) -> Vec<Condition> {
        (0..self.source.below(4)).map(|_| self.condition()).collect()
    }

    fn expected(&mut self) -> Expected {
        let nulls = self.source.pick(&[Nulls::Differ, Nulls::Unknown]);
        match self.source.below(4) {
            0 => Expected::Value(self.value()),
            1 => Expected::AnyOf(self.values()),
            2 => Expected::NotValue(self.value(), nulls),
            _ => Expected::NoneOf(self.values(), nulls),
        }
    }

    fn subselect(&mut self) -> Subselect {
        let mut subselect = match self.source.flag() {
            true => exists(Other::TABLE),
            false => exists(self.table()),
        };
        if self.source.flag() {
            subselect = subselect.at(self.name());
        }
        for condition in self.conditions() {
            subselect = subselect.filter(condition);
        }
        subselect
    }
}

/// An expression of no particular type.
struct Wrapped(Expr);

impl update_if::Operand<Any> for Wrapped {
    fn into_expr(self) -> Expr {
        self.0
    }
}

/// One statement, whose placeholders are as many as its values, in order, and which has nothing of
/// the values in its text.
fn check(sql: &Sql, dialect: Dialect) {
    let text = outside_quotes(&sql.text, dialect);
    assert!(!sql.text.contains(MARK), "a value is in the text: {}", sql.text);
    for foreign in [";", "--", "/*", "#", "\\", "\0", &NUMBERS.to_string()[..6]] {
        assert!(!text.contains(foreign), "{foreign:?} is in the text: {}", sql.text);
    }
    let (open, close) = (text.matches('(').count(), text.matches(')').count());
    assert_eq!(open, close, "{}", sql.text);
    match dialect {
        Dialect::Sqlite | Dialect::Mysql => {
            assert_eq!(text.matches('?').count(), sql.values.len(), "{}", sql.text);
        }
        Dialect::Postgres => {
            let numbers: Vec<usize> = text.split('$').skip(1).map(leading_number).collect();
            assert!(numbers.into_iter().eq(1..=sql.values.len()), "{}", sql.text);
        }
    }
}

fn leading_number(text: &str) -> usize {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().unwrap_or(0)
}

/// The text without what is in quotes; quotes come in pairs.
fn outside_quotes(text: &str, dialect: Dialect) -> String {
    let names = if dialect == Dialect::Mysql { '`' } else { '"' };
    let mut outside = String::new();
    let mut within = None;
    for c in text.chars() {
        match within {
            Some(quote) if c == quote => within = None,
            Some(_) => {}
            None if c == names || c == '\'' => within = Some(c),
            None => outside.push(c),
        }
    }
    assert!(within.is_none(), "a quote is open: {text}");
    outside
}
