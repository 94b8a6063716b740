//! Filling in a template.

use std::path::Path;

use super::error::ReportError;
use super::summaries::Summaries;
use super::template::places;

/// Fills in a template. `{{ RUN | LABEL | PATH }}` becomes a number of the summary of RUN, which is
/// `RUN/summary.json` in the folder, or `RUN.json` if it was reduced. PATH leads into the group of
/// that label; `run.FIELD` is the median of a field over its runs, and `run.megaFIELD` the same in
/// millions.
///
/// With `in LOW..HIGH` the report is refused unless the number is there, so that no sentence
/// outlives its number. Infinity is written as `never`.
pub fn report(template: &str, runs: &Path) -> Result<String, ReportError> {
    let lines: Vec<String> = report_lines(template, runs).into_iter().collect::<Result<_, _>>()?;
    Ok(lines.join("\n") + "\n")
}

/// Fills in a template line by line, whatever errors there are.
pub fn report_lines(template: &str, runs: &Path) -> Vec<Result<String, ReportError>> {
    let mut summaries = Summaries::new(runs);
    (1..).zip(template.lines()).map(|(line, text)| fill(line, text, &mut summaries)).collect()
}

fn fill(line: usize, text: &str, summaries: &mut Summaries) -> Result<String, ReportError> {
    let mut filled = String::new();
    let mut rest = text;
    for place in places(line, text)? {
        let (before, after) = rest.split_once("{{").unwrap_or((rest, ""));
        filled += before;
        filled += &place.fill(line, summaries.get(line, place.run)?)?;
        rest = after.split_once("}}").map_or("", |(_, after)| after);
    }
    Ok(filled + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(template: &str) -> Result<String, ReportError> {
        let folder = std::env::temp_dir().join(format!("fabnet-report-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("a")).unwrap();
        let summary = r#"{"runs": [{"label": "x", "seconds": 2.0}, {"label": "x", "seconds": 1.0},
            {"label": "x", "seconds": 9.5}], "groups": [{"label": "x", "diverged": 3, "reached_at": {"median": null},
            "final": {"e": {"median": 0.012345}}}]}"#;
        std::fs::write(folder.join("a/summary.json"), summary).unwrap();
        report(template, &folder)
    }

    #[test]
    fn numbers_come_from_the_summary() {
        let text = "{{ a | x | diverged }} of {{a|x|final.e.median in 0.01..0.02}}, \
                    {{ a | x | reached_at.median }}, {{ a | x | run.seconds }}";
        assert_eq!(fill(text).unwrap(), "3 of 0.0123, never, 2\n");
    }

    #[test]
    fn sentences_do_not_outlive_their_numbers() {
        let message = |text: &str| fill(text).unwrap_err().to_string();
        assert!(
            message("\n{{ a | x | diverged in 0..2 }}").starts_with("line 2: `diverged` of `x` is 3, not within 0..2")
        );
        assert!(message("{{ a | y | diverged }}").contains("no `diverged` of `y`"));
        assert!(message("{{ b | x | diverged }}").contains("has no summary"));
        assert!(message("{{ a x }}").contains("not of the form"));
    }
}
