use rusqlite::Row;
use serde::Serialize;
use sqlx::{FromRow, sqlite::SqliteRow};

use super::{Ids, People};

/// A row of a table, as both drivers read it.
pub trait Table: for<'r> FromRow<'r, SqliteRow> + Serialize + Send + Unpin + 'static {
    const NAME: &'static str;
    const BY_ID: &'static str;

    fn ids(people: &People) -> &Ids;

    fn read(row: &Row) -> rusqlite::Result<Self>;
}

/// Columns are in the order of their table, because rusqlite reads them by index; sqlx reads them by name.
macro_rules! table {
    ($row:ident of $table:ident: $($column:ident $type:ty,)+) => {
        #[derive(FromRow, Serialize)]
        pub struct $row {
            $($column: $type,)+
        }

        impl Table for $row {
            const NAME: &'static str = stringify!($table);
            const BY_ID: &'static str = concat!("SELECT * FROM ", stringify!($table), " WHERE id = ?");

            fn ids(people: &People) -> &Ids {
                &people.$table
            }

            fn read(row: &Row) -> rusqlite::Result<Self> {
                let mut indices = 0..;
                let mut next = || indices.next().unwrap_or_default();
                Ok(Self { $($column: row.get::<usize, _>(next())?,)+ })
            }
        }
    };
}

table! { Person5 of person5:
    id i64,
    first_name String,
    last_name String,
    email String,
    phone String,
    created_at String,
}

table! { Person30 of person30:
    id i64,
    first_name String,
    last_name String,
    email String,
    phone String,
    date_of_birth String,
    gender String,
    address String,
    city String,
    state String,
    zip_code String,
    country String,
    occupation String,
    company String,
    salary f64,
    education_level String,
    marital_status String,
    number_of_children i64,
    height_cm f64,
    weight_kg f64,
    blood_type String,
    eye_color String,
    hair_color String,
    favorite_color String,
    hobbies String,
    languages String,
    social_security_number String,
    passport_number String,
    driver_license String,
    emergency_contact String,
    created_at String,
}
