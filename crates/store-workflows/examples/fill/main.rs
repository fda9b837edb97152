//! Filling of a database with copies of the runs and cases that are in it: `fill ADDRESS ROWS NAME`, for `bench growth`. Nobody
//! else may have the database open. The name is one of the users that tasks are for.
#![expect(clippy::print_stdout, reason = "says what it did")]

mod rows;

use heddle_store::{Db, Options};

async fn fill(address: &str, rows: u64, user: &str) -> Result<(), Box<dyn std::error::Error>> {
    let db = Db::open(address, &Options::default()).await?;
    let templates = rows::fill(&db, rows, user).await?;
    // Else what is read next writes first what was filled, page by page, to make room in memory.
    if let Some(postgres) = db.postgres()
        && let Err(error) = postgres.execute_batch("CHECKPOINT").await
    {
        println!("no checkpoint: {error}");
    }
    println!("{rows} runs of {templates} workflows");
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, rows, user] = arguments.as_slice() else {
        return Err("the address of a database, a number of rows and a user's name are needed".into());
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(fill(address, rows.parse()?, user))
}
