//! Conditions in SQL, NULL and all.

use super::Writer;
use crate::{
    ColumnRef, Comparison, Compatibility, Condition, Expected, Expr, Invalid, Nulls, Value,
};

impl Writer<'_> {
    pub(crate) fn condition(&mut self, condition: &Condition) -> Result<(), Invalid> {
        self.deeper(|writer| match condition {
            Condition::Is(column, expected) => writer.expected(column, expected),
            Condition::Compare(left, comparison, right) => {
                let (beside_left, beside_right) = (writer.spec_of(right)?, writer.spec_of(left)?);
                writer.expr(left, beside_left.as_ref())?;
                writer.push(match comparison {
                    Comparison::Equal => " = ",
                    Comparison::Different => " <> ",
                    Comparison::Less => " < ",
                    Comparison::AtMost => " <= ",
                    Comparison::Greater => " > ",
                    Comparison::AtLeast => " >= ",
                });
                writer.expr(right, beside_right.as_ref())
            }
            Condition::All(conditions) => writer.list(conditions, " AND ", "1 = 1"),
            Condition::Any(conditions) => writer.list(conditions, " OR ", "1 = 0"),
            Condition::Not(condition) => {
                let outer = std::mem::replace(&mut writer.negated, true);
                writer.push("NOT (");
                writer.condition(condition)?;
                writer.push(")");
                writer.negated = outer;
                Ok(())
            }
            Condition::Exists(subselect) => writer.exists(subselect),
            Condition::Because(_, condition) => writer.condition(condition),
        })
    }

    fn list(
        &mut self,
        conditions: &[Condition],
        between: &str,
        of_none: &str,
    ) -> Result<(), Invalid> {
        if conditions.is_empty() {
            self.push(of_none);
            return Ok(());
        }
        self.push("(");
        for (place, condition) in conditions.iter().enumerate() {
            if place > 0 {
                self.push(between);
            }
            self.condition(condition)?;
        }
        self.push(")");
        Ok(())
    }

    fn expected(&mut self, column: &ColumnRef, expected: &Expected) -> Result<(), Invalid> {
        match expected {
            Expected::Value(value) => self.any_of(column, std::slice::from_ref(value)),
            Expected::AnyOf(values) => self.any_of(column, values),
            Expected::NotValue(value, nulls) => {
                self.none_of(column, std::slice::from_ref(value), *nulls, Compatibility::Strict)
            }
            Expected::NoneOf(values, nulls) => {
                self.none_of(column, values, *nulls, self.compatibility)
            }
        }
    }

    fn any_of(&mut self, column: &ColumnRef, values: &[Value]) -> Result<(), Invalid> {
        let some: Vec<&Value> = values.iter().filter(|value| !value.is_null()).collect();
        let null_among = some.len() < values.len();
        match (some.is_empty(), null_among) {
            (true, false) => self.push("1 = 0"),
            (true, true) => self.null(column, " IS NULL")?,
            (false, true) => {
                self.push("(");
                self.is_in(column, &some, " = ", " IN (")?;
                self.push(" OR ");
                self.null(column, " IS NULL)")?;
            }
            // Where unknown is as good as false, the shorter form is enough.
            (false, false) if !self.negated => self.is_in(column, &some, " = ", " IN (")?,
            (false, false) => {
                self.push("(");
                self.null(column, " IS NOT NULL AND ")?;
                self.is_in(column, &some, " = ", " IN (")?;
                self.push(")");
            }
        }
        Ok(())
    }

    fn none_of(
        &mut self,
        column: &ColumnRef,
        values: &[Value],
        nulls: Nulls,
        compatibility: Compatibility,
    ) -> Result<(), Invalid> {
        let some: Vec<&Value> = values.iter().filter(|value| !value.is_null()).collect();
        let null_among = some.len() < values.len();
        let null_matches =
            nulls == Nulls::Differ && (!null_among || compatibility == Compatibility::Cinder);
        match (some.is_empty(), null_matches) {
            (true, _) if !null_among || null_matches => self.push("1 = 1"),
            (true, _) => self.null(column, " IS NOT NULL")?,
            (false, true) => {
                self.push("(");
                self.is_in(column, &some, " <> ", " NOT IN (")?;
                self.push(" OR ");
                self.null(column, " IS NULL)")?;
            }
            (false, false) if nulls == Nulls::Unknown && !null_among => {
                self.is_in(column, &some, " <> ", " NOT IN (")?;
            }
            (false, false) => {
                self.push("(");
                self.null(column, " IS NOT NULL AND ")?;
                self.is_in(column, &some, " <> ", " NOT IN (")?;
                self.push(")");
            }
        }
        Ok(())
    }

    fn null(&mut self, column: &ColumnRef, text: &str) -> Result<(), Invalid> {
        self.column(column)?;
        self.push(text);
        Ok(())
    }

    fn is_in(
        &mut self,
        column: &ColumnRef,
        values: &[&Value],
        one: &str,
        many: &str,
    ) -> Result<(), Invalid> {
        let spec = self.spec_of(&Expr::Column(column.clone()))?;
        self.column(column)?;
        if let [value] = values {
            self.push(one);
            return self.value(value, spec.as_ref());
        }
        self.push(many);
        for (place, value) in values.iter().enumerate() {
            if place > 0 {
                self.push(", ");
            }
            self.value(value, spec.as_ref())?;
        }
        self.push(")");
        Ok(())
    }
}
