//! Rows of other tables, and of the same one.

use super::Writer;
use crate::statement::walk;
use crate::{Condition, Invalid, Subselect};

impl Writer<'_> {
    pub(super) fn exists(&mut self, subselect: &Subselect) -> Result<(), Invalid> {
        self.push("EXISTS (SELECT 1");
        self.from(subselect)?;
        self.push(")");
        Ok(())
    }

    /// How many rows there are.
    #[cfg(feature = "execute")]
    pub(crate) fn count(&mut self, subselect: &Subselect) -> Result<(), Invalid> {
        self.push("(SELECT COUNT(*)");
        self.from(subselect)?;
        self.push(")");
        Ok(())
    }

    pub(super) fn scalar(&mut self, subselect: &Subselect) -> Result<(), Invalid> {
        self.push("(SELECT ");
        self.within(subselect, |writer| match &subselect.column {
            Some(column) => writer.column(column),
            None => {
                writer.push("1");
                Ok(())
            }
        })?;
        self.from(subselect)?;
        self.push(")");
        Ok(())
    }

    /// There are rows of these tables for which all of these hold.
    pub(crate) fn joined(
        &mut self,
        tables: &[String],
        conditions: &[Condition],
    ) -> Result<(), Invalid> {
        let outside = self.scopes.len();
        self.push("EXISTS (SELECT 1 FROM ");
        for (place, table) in tables.iter().enumerate() {
            if place > 0 {
                self.push(", ");
            }
            self.name(table)?;
            self.scopes.push((table.clone(), None));
        }
        self.push(" WHERE ");
        self.all(conditions)?;
        self.scopes.truncate(outside);
        self.push(")");
        Ok(())
    }

    fn from(&mut self, subselect: &Subselect) -> Result<(), Invalid> {
        self.within(subselect, |writer| {
            // What is unknown here is no row, whatever is around.
            let outer = std::mem::replace(&mut writer.negated, false);
            writer.push(" FROM ");
            if subselect.table.name == writer.own.name {
                writer.derived(subselect)?;
            } else {
                writer.table_at(subselect)?;
                writer.wherever(&subselect.filters)?;
            }
            writer.negated = outer;
            Ok(())
        })
    }

    /// Rows of the table that is being updated. MySQL refuses to read it directly, but not through a derived table;
    /// what speaks of those rows alone goes inside, so that the derived table is small.
    fn derived(&mut self, subselect: &Subselect) -> Result<(), Invalid> {
        self.reads_itself = true;
        let scope = subselect.scope();
        let (inside, outside): (Vec<Condition>, Vec<Condition>) = subselect
            .filters
            .iter()
            .cloned()
            .partition(|condition| walk::speaks_only_of(condition, scope));
        self.push("(SELECT * FROM ");
        self.table_at(subselect)?;
        self.wherever(&inside)?;
        let unmerged = self.dialect.unmerged();
        self.push(unmerged);
        self.push(") AS ");
        self.name(scope)?;
        self.wherever(&outside)
    }

    fn table_at(&mut self, subselect: &Subselect) -> Result<(), Invalid> {
        self.name(&subselect.table.name)?;
        if let Some(alias) = &subselect.alias {
            self.push(" AS ");
            self.name(alias)?;
        }
        Ok(())
    }

    fn wherever(&mut self, conditions: &[Condition]) -> Result<(), Invalid> {
        if conditions.is_empty() {
            return Ok(());
        }
        self.push(" WHERE ");
        self.all(conditions)
    }

    fn all(&mut self, conditions: &[Condition]) -> Result<(), Invalid> {
        for (place, condition) in conditions.iter().enumerate() {
            if place > 0 {
                self.push(" AND ");
            }
            self.condition(condition)?;
        }
        Ok(())
    }
}
