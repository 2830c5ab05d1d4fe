//! What a column can hold, and the Rust types that stand for it.

use std::borrow::Cow;

use crate::{Expr, Moment};

/// One value, as it is bound to a statement or read from a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Nothing.
    Null,
    /// True or false. MySQL and SQLite keep it as 1 or 0.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A floating-point number; never NaN or infinite.
    Float(f64),
    /// Text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A moment in UTC.
    Moment(Moment),
}

impl Value {
    /// What kind of value this is; `None` for NULL, which every column may be compared with.
    pub fn kind(&self) -> Option<Kind> {
        match self {
            Self::Null => None,
            Self::Bool(_) => Some(Kind::Bool),
            Self::Int(_) => Some(Kind::Int),
            Self::Float(_) => Some(Kind::Float),
            Self::Text(_) => Some(Kind::Text),
            Self::Bytes(_) => Some(Kind::Bytes),
            Self::Moment(_) => Some(Kind::Moment),
        }
    }

    /// Whether this is NULL.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The truth value, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(value) = self { Some(*value) } else { None }
    }

    /// The whole number, if it is one.
    pub fn as_int(&self) -> Option<i64> {
        if let Self::Int(value) = self { Some(*value) } else { None }
    }

    /// The floating-point number, if it is one.
    pub fn as_float(&self) -> Option<f64> {
        if let Self::Float(value) = self { Some(*value) } else { None }
    }

    /// The text, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        if let Self::Text(value) = self { Some(value) } else { None }
    }

    /// The bytes, if it is some.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        if let Self::Bytes(value) = self { Some(value) } else { None }
    }

    /// The moment, if it is one.
    pub fn as_moment(&self) -> Option<Moment> {
        if let Self::Moment(value) = self { Some(*value) } else { None }
    }

    /// As a column of this kind holds it. Not every database has every type: some answer 0 or 1 for a truth value, or
    /// a text for a moment.
    #[cfg_attr(not(feature = "execute"), allow(dead_code, reason = "only the drivers read"))]
    pub(crate) fn read_as(self, kind: Option<Kind>) -> Self {
        match (self, kind) {
            (Self::Int(value @ 0..=1), Some(Kind::Bool)) => Self::Bool(value == 1),
            (Self::Bool(value), Some(Kind::Int)) => Self::Int(value.into()),
            (Self::Int(value), Some(Kind::Float)) => Self::Float(value as f64),
            // MySQL calls text in a binary collation binary.
            (Self::Bytes(bytes), Some(Kind::Text)) => String::from_utf8(bytes)
                .map_or_else(|error| Self::Bytes(error.into_bytes()), Self::Text),
            (Self::Text(text), Some(Kind::Moment)) => {
                text.parse().map_or(Self::Text(text), Self::Moment)
            }
            (value, _) => value,
        }
    }
}

/// As people read it: text in quotes, NULL as `NULL`.
impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Null => f.write_str("NULL"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value}"),
            Self::Text(value) => write!(f, "'{value}'"),
            Self::Bytes(value) => write!(f, "{} bytes", value.len()),
            Self::Moment(value) => write!(f, "{value}"),
        }
    }
}

/// The kinds of columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// True or false.
    Bool,
    /// A whole number.
    Int,
    /// A floating-point number.
    Float,
    /// Text.
    Text,
    /// Bytes.
    Bytes,
    /// A moment in UTC.
    Moment,
}

impl Kind {
    /// Whether a value of the other kind may be compared with, or stored in, a column of this one.
    pub(crate) fn takes(self, other: Self) -> bool {
        self == other || (self == Self::Float && other == Self::Int)
    }
}

/// A value in a row was not of the type that the struct has for it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{found} cannot be read as {expected}")]
pub struct WrongType {
    /// What was found.
    pub found: Value,
    /// The Rust type.
    pub expected: &'static str,
}

/// A type that a field of a resource can have. Implement it for your own, such as an enum of statuses.
pub trait Field: Sized {
    /// What literals are compared with: `String` for `String` and for `Option<String>`.
    type Base;
    /// The kind of column that holds it; `None` if any may.
    const KIND: Option<Kind>;
    /// The value to bind.
    fn to_value(&self) -> Value;
    /// The field, from a value that was read.
    fn from_value(value: Value) -> Result<Self, WrongType>;
}

impl<T: Field> Field for Option<T> {
    type Base = T::Base;
    const KIND: Option<Kind> = T::KIND;

    fn to_value(&self) -> Value {
        self.as_ref().map_or(Value::Null, T::to_value)
    }

    fn from_value(value: Value) -> Result<Self, WrongType> {
        if value.is_null() { Ok(None) } else { T::from_value(value).map(Some) }
    }
}

/// A plain value that can stand for a `Base` in a condition. `None` stands for NULL.
#[diagnostic::on_unimplemented(message = "`{Self}` cannot be compared with a column of `{Base}`")]
pub trait Literal<Base>: Operand<Base> {
    /// The value to bind.
    fn into_value(self) -> Value;
}

/// What can be assigned to, or compared with, a column of `Base`: a plain value, a column, an expression.
#[diagnostic::on_unimplemented(message = "`{Self}` cannot stand for a `{Base}`")]
pub trait Operand<Base> {
    /// The expression to render.
    fn into_expr(self) -> Expr;
}

impl<Base, L: Literal<Base>> Literal<Base> for Option<L> {
    fn into_value(self) -> Value {
        self.map_or(Value::Null, L::into_value)
    }
}

impl<Base, L: Literal<Base>> Operand<Base> for Option<L> {
    fn into_expr(self) -> Expr {
        Expr::Value(self.into_value())
    }
}

/// The type of a column whose type is known only when the program runs ([`column`](crate::column)).
#[derive(Debug, Clone, PartialEq)]
pub struct Any(Value);

impl Field for Any {
    type Base = Self;
    const KIND: Option<Kind> = None;

    fn to_value(&self) -> Value {
        self.0.clone()
    }

    fn from_value(value: Value) -> Result<Self, WrongType> {
        Ok(Self(value))
    }
}

/// Lets values of a type stand for columns of a base: `literal!(Status => String)`, where
/// `Value: From<Status>`.
#[macro_export]
macro_rules! literal {
    ($($type:ty => $base:ty),* $(,)?) => {$(
        impl $crate::Literal<$base> for $type {
            fn into_value(self) -> $crate::Value { self.into() }
        }
        impl $crate::Operand<$base> for $type {
            fn into_expr(self) -> $crate::Expr { $crate::Expr::Value(self.into()) }
        }
    )*};
}

literal!(
    bool => bool, i8 => i64, i16 => i64, i32 => i64, i64 => i64, u8 => i64, u16 => i64, u32 => i64,
    f32 => f64, f64 => f64, &str => String, String => String, &String => String,
    Cow<'_, str> => String, Vec<u8> => Vec<u8>, &[u8] => Vec<u8>, Moment => Moment,
);
literal!(
    bool => Any, i8 => Any, i16 => Any, i32 => Any, i64 => Any, u8 => Any, u16 => Any, u32 => Any,
    f32 => Any, f64 => Any, &str => Any, String => Any, &String => Any,
    Cow<'_, str> => Any, Vec<u8> => Any, &[u8] => Any, Moment => Any, Value => Any,
);

macro_rules! value_from {
    ($($type:ty, $value:ident => $expression:expr;)*) => {$(
        impl From<$type> for Value {
            fn from($value: $type) -> Self { $expression }
        }
    )*};
}

value_from! {
    bool, value => Self::Bool(value);
    i8, value => Self::Int(value.into());
    i16, value => Self::Int(value.into());
    i32, value => Self::Int(value.into());
    i64, value => Self::Int(value);
    u8, value => Self::Int(value.into());
    u16, value => Self::Int(value.into());
    u32, value => Self::Int(value.into());
    f32, value => Self::Float(value.into());
    f64, value => Self::Float(value);
    &str, value => Self::Text(value.to_owned());
    String, value => Self::Text(value);
    &String, value => Self::Text(value.clone());
    Cow<'_, str>, value => Self::Text(value.into_owned());
    Vec<u8>, value => Self::Bytes(value);
    &[u8], value => Self::Bytes(value.to_owned());
    Moment, value => Self::Moment(value);
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, T::into)
    }
}

macro_rules! field {
    ($($type:ty as $base:ty, $kind:ident, $value:ident => $read:expr;)*) => {$(
        impl Field for $type {
            type Base = $base;
            const KIND: Option<Kind> = Some(Kind::$kind);

            fn to_value(&self) -> Value { self.clone().into() }

            fn from_value($value: Value) -> Result<Self, WrongType> {
                let read: Option<Self> = $read;
                read.ok_or(WrongType { found: $value, expected: stringify!($type) })
            }
        }
    )*};
}

field! {
    bool as bool, Bool, value => value.as_bool();
    i8 as i64, Int, value => value.as_int().and_then(|read| read.try_into().ok());
    i16 as i64, Int, value => value.as_int().and_then(|read| read.try_into().ok());
    i32 as i64, Int, value => value.as_int().and_then(|read| read.try_into().ok());
    i64 as i64, Int, value => value.as_int();
    u8 as i64, Int, value => value.as_int().and_then(|read| read.try_into().ok());
    u16 as i64, Int, value => value.as_int().and_then(|read| read.try_into().ok());
    u32 as i64, Int, value => value.as_int().and_then(|read| read.try_into().ok());
    f64 as f64, Float, value => value.as_float();
    String as String, Text, value => value.as_text().map(str::to_owned);
    Vec<u8> as Vec<u8>, Bytes, value => value.as_bytes().map(<[u8]>::to_owned);
    Moment as Moment, Moment, value => value.as_moment();
}
