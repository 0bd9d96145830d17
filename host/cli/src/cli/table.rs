//! Tables for people. What stands in a cell may come from anybody.

use super::render::Terminal;
use callcell::runtime::clean;
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table};

/// Columns of the line under a header.
const MAX_RULE: usize = 120;

/// A table with a line under its header and none elsewhere, so that it also reads well in a file.
pub fn table(terminal: &Terminal, header: &[&str], right: &[usize], rows: &[Vec<String>]) -> String {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    // Without a terminal nothing is wrapped: a program may read the lines.
    table.set_width(terminal.width().unwrap_or(u16::MAX));
    table.set_header(header.iter().map(Cell::new));
    for row in rows {
        table.add_row(row.iter().map(|text| Cell::new(clean(text))));
    }
    for column in right {
        if let Some(column) = table.column_mut(*column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, if index + 1 == header.len() { 0 } else { 2 }));
    }
    let text = table.to_string();
    let mut lines: Vec<String> = text.lines().map(|line| line.trim_end().to_owned()).collect();
    let width = lines.iter().map(|line| console::measure_text_width(line)).max().unwrap_or_default();
    lines.insert(1.min(lines.len()), "─".repeat(width.min(MAX_RULE)));
    lines.join("\n")
}
