//! Tables of separated values, as one Markdown table.

use csv::{ReaderBuilder, StringRecord, Trim};

use super::{Read, Source, text};
use crate::builder::Builder;
use crate::document::Markup;
use crate::error::ExtractError;

/// Bytes that tell the delimiter.
const SAMPLE: usize = 64 << 10;

/// Delimiters that are tried; of equal ones the earlier wins.
const DELIMITERS: &[u8] = b",;\t|";

pub(super) fn read(source: Source<'_>, builder: &mut Builder<'_>) -> Read {
    let text = text::decoded(source);
    let delimiter = delimiter(&text);
    let mut records = reader(delimiter, &text).into_records();
    let Some(first) = records.next().transpose().map_err(ExtractError::parse)? else {
        return Ok(Markup::Markdown);
    };
    let headed = first.iter().all(|cell| !cell.trim().is_empty() && cell.trim().parse::<f64>().is_err());
    let columns = if headed {
        first.clone()
    } else {
        (1..=first.len()).map(|number| format!("Column {number}")).collect()
    };
    let table = Table { width: columns.len() };
    if headed {
        builder.push(&table.row(&columns))?;
    } else {
        builder.frame(&table.row(&columns))?;
    }
    builder.frame(&format!("|{}\n", "---|".repeat(table.width)))?;
    if !headed {
        builder.push(&table.row(&first))?;
    }
    let mut rows = u64::from(!headed);
    for record in records {
        builder.push(&table.row(&record.map_err(ExtractError::parse)?))?;
        rows += 1;
    }
    builder.note("rows", Some(&rows.to_string()));
    Ok(Markup::Markdown)
}

fn reader(delimiter: u8, text: &str) -> csv::Reader<&[u8]> {
    ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .trim(Trim::All)
        .from_reader(text.as_bytes())
}

/// Markdown table of a known width.
struct Table {
    width: usize,
}

impl Table {
    /// A row as a line. What a row has beyond the head goes into its last cell, so that nothing is lost.
    fn row(&self, record: &StringRecord) -> String {
        let mut line = String::from("|");
        for column in 0..self.width {
            line.push(' ');
            cell(&mut line, record.get(column).unwrap_or_default());
            if column + 1 == self.width {
                for extra in record.iter().skip(self.width).filter(|extra| !extra.is_empty()) {
                    line.push_str(", ");
                    cell(&mut line, extra);
                }
            }
            line.push_str(" |");
        }
        line.push('\n');
        line
    }
}

/// Adds a cell's text on one line, with the bar escaped.
fn cell(line: &mut String, text: &str) {
    for letter in text.chars() {
        match letter {
            '|' => line.push_str("\\|"),
            '\n' | '\r' => line.push(' '),
            other => line.push(other),
        }
    }
}

/// The delimiter under which the first records are widest and of one width.
fn delimiter(text: &str) -> u8 {
    let mut end = text.len().min(SAMPLE);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let sample = text.get(..end).unwrap_or_default();
    let mut best = (0, b',');
    for delimiter in DELIMITERS {
        let widths: Vec<usize> = reader(*delimiter, sample)
            .into_records()
            .take(50)
            .filter_map(Result::ok)
            .map(|record| record.len())
            .collect();
        let Some(width) = widths.first().copied().filter(|width| *width > 1) else { continue };
        let agreeing = widths.iter().filter(|other| **other == width).count();
        let score = agreeing * 1000 / widths.len() * 100 + width.min(99);
        if score > best.0 {
            best = (score, *delimiter);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use crate::parse::tests::read;

    #[test]
    fn each_dialect_becomes_the_same_table() {
        let table = "| name | size |\n|---|---|\n| a, b | 1 |\n| c\\|d e | 2 |\n";
        for content in [
            "name,size\n\"a, b\",1\n\"c|d\ne\",2\n",
            "name;size\r\n\"a, b\";1\r\n\"c|d\r\ne\";2\r\n",
            "name\tsize\na, b\t1\n\"c|d\ne\"\t2\n",
        ] {
            assert_eq!(
                read("a.csv", content.as_bytes()).unwrap().text.replace("  ", " "),
                table,
                "{content}"
            );
        }
    }

    #[test]
    fn a_table_without_a_head_gets_numbers_and_a_long_row_loses_nothing() {
        let document = read("a.csv", b"1,2\n3,4,5\n6\n").unwrap();
        assert_eq!(document.text, "| Column 1 | Column 2 |\n|---|---|\n| 1 | 2 |\n| 3 | 4, 5 |\n| 6 |  |\n");
        assert_eq!(document.metadata["rows"], "3");
    }
}
