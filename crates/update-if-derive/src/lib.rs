//! `#[derive(Resource)]` for `update-if`: gives a struct its table, its key and its typed columns.
#![forbid(unsafe_code)]

use proc_macro::TokenStream;
use proc_macro2::{Ident, Span, TokenStream as Tokens};
use quote::quote;
use syn::{Data, DeriveInput, Error, Field, Fields, LitStr, Result, Type, spanned::Spanned};

/// Derives `update_if::Resource`. See there for an example.
///
/// On the struct: `#[resource(table = "volumes")]`, and `noun = "volume"` if the name of the struct is not what a row
/// is called. On fields: `key`, `updated_at`, `deleted`, `column = "name"` if it is not the field's, `postgres = "uuid"`
/// for types that are sent as text and cast.
#[proc_macro_derive(Resource, attributes(resource))]
pub fn derive_resource(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as DeriveInput);
    resource(&input).unwrap_or_else(Error::into_compile_error).into()
}

struct Column<'a> {
    ident: &'a Ident,
    kind: &'a Type,
    name: String,
    role: &'static str,
    postgres: Option<LitStr>,
}

fn resource(input: &DeriveInput) -> Result<Tokens> {
    let (table, noun) = of_struct(input)?;
    let Data::Struct(data) = &input.data else {
        return Err(Error::new(input.span(), "only a struct can be a resource"));
    };
    let Fields::Named(fields) = &data.fields else {
        return Err(Error::new(input.span(), "a resource has named fields"));
    };
    let columns = fields.named.iter().map(of_field).collect::<Result<Vec<_>>>()?;
    let keys: Vec<&Column<'_>> = columns.iter().filter(|column| column.role == "Key").collect();
    if keys.is_empty() {
        let message = "a resource needs a key: mark a field with #[resource(key)]";
        return Err(Error::new(input.span(), message));
    }

    let (resource, visible) = (&input.ident, &input.vis);
    let specs = columns.iter().map(|Column { kind, name, role, postgres, .. }| {
        let role = Ident::new(role, Span::call_site());
        let postgres = postgres.as_ref().map_or(quote!(None), |name| quote!(Some(#name)));
        quote!(::update_if::ColumnSpec::derived::<#kind>(#name, ::update_if::Role::#role, #postgres))
    });
    let constants = columns.iter().map(|Column { ident, kind, name, .. }| {
        let constant = Ident::new(&ident.to_string().to_uppercase(), ident.span());
        let says = format!("The column `{name}`.");
        quote! {
            #[doc = #says]
            #visible const #constant: ::update_if::Column<#kind, Self> =
                ::update_if::Column::derived(#table, #name);
        }
    });
    let values = columns
        .iter()
        .map(|Column { ident, .. }| quote!(::update_if::Field::to_value(&self.#ident)));
    let reads = columns.iter().map(|Column { ident, name, .. }| {
        quote! {
            #ident: ::update_if::Field::from_value(values.next().unwrap_or(::update_if::Value::Null))
                .map_err(|problem| ::update_if::WrongColumn { column: #name.into(), problem })?
        }
    });
    let parameters = keys.iter().map(|Column { ident, kind, .. }| {
        quote!(#ident: impl ::update_if::Literal<<#kind as ::update_if::Field>::Base>)
    });
    let arguments = keys.iter().map(
        |Column { ident, kind, .. }| quote!(.keyed::<<#kind as ::update_if::Field>::Base>(#ident)),
    );

    Ok(quote! {
        #[allow(dead_code)]
        impl #resource {
            #(#constants)*

            /// A conditional update of the row with this key.
            #visible fn update(#(#parameters),*) -> ::update_if::Update {
                ::update_if::Update::of(<Self as ::update_if::Resource>::TABLE) #(#arguments)*
            }

            /// A conditional update of all rows for which its conditions hold.
            #visible fn update_all() -> ::update_if::Update {
                ::update_if::Update::of(<Self as ::update_if::Resource>::TABLE)
            }
        }

        impl ::update_if::Resource for #resource {
            const TABLE: &'static ::update_if::Table = {
                const COLUMNS: &'static [::update_if::ColumnSpec] = &[#(#specs),*];
                &::update_if::Table::derived(#table, #noun, COLUMNS)
            };

            fn values(&self) -> ::std::vec::Vec<::update_if::Value> {
                ::std::vec![#(#values),*]
            }

            fn from_values(
                values: ::std::vec::Vec<::update_if::Value>,
            ) -> ::core::result::Result<Self, ::update_if::WrongColumn> {
                let mut values = values.into_iter();
                ::core::result::Result::Ok(Self { #(#reads),* })
            }
        }
    })
}

fn of_struct(input: &DeriveInput) -> Result<(LitStr, String)> {
    let (mut table, mut noun) = (None, input.ident.to_string().to_lowercase());
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("resource")) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("table") {
                table = Some(meta.value()?.parse()?);
            } else if meta.path.is_ident("noun") {
                noun = meta.value()?.parse::<LitStr>()?.value();
            } else {
                return Err(meta.error("expected `table` or `noun`"));
            }
            Ok(())
        })?;
    }
    let message = "which table? #[resource(table = \"…\")]";
    Ok((table.ok_or_else(|| Error::new(input.span(), message))?, noun))
}

fn of_field(field: &Field) -> Result<Column<'_>> {
    let ident = field.ident.as_ref().expect("named fields have names");
    let (mut name, mut role, mut postgres) = (ident.to_string(), "Plain", None);
    for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("resource")) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("key") {
                role = "Key";
            } else if meta.path.is_ident("updated_at") {
                role = "UpdatedAt";
            } else if meta.path.is_ident("deleted") {
                role = "Deleted";
            } else if meta.path.is_ident("column") {
                name = meta.value()?.parse::<LitStr>()?.value();
            } else if meta.path.is_ident("postgres") {
                postgres = Some(meta.value()?.parse()?);
            } else {
                let known = "expected `key`, `updated_at`, `deleted`, `column` or `postgres`";
                return Err(meta.error(known));
            }
            Ok(())
        })?;
    }
    Ok(Column { ident, kind: &field.ty, name, role, postgres })
}
