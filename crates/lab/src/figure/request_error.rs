//! Why requested figures do not exist.

/// Why requested figures do not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The metric exists, but was not recorded.
    #[error("--metric: `{metric}` was not recorded; these were: {}", recorded.join(", "))]
    NotRecorded {
        /// The metric that was requested.
        metric: String,
        /// The metrics that were recorded.
        recorded: Vec<String>,
    },
    /// There is no such metric.
    #[error("--metric: `{metric}` is no metric of these records: {suggestion}")]
    UnknownMetric {
        /// The metric that was requested.
        metric: String,
        /// Which metrics there are.
        suggestion: String,
    },
    /// A label is not replaced by the form that is wanted.
    #[error("--label: `{rule}` is not of the form OLD=NEW")]
    LabelForm {
        /// The rule as it was given.
        rule: String,
    },
    /// There is no group with this label.
    #[error("--label: there is no label `{label}`: {suggestion}")]
    UnknownLabel {
        /// The label that was to be replaced.
        label: String,
        /// Which labels there are.
        suggestion: String,
    },
    /// A label is replaced by nothing.
    #[error("--label: `{rule}` leaves no name")]
    EmptyLabel {
        /// The rule as it was given.
        rule: String,
    },
    /// Two groups would get the same label.
    #[error("--label: two groups would have the same name")]
    SameLabel,
    /// Neither the file's name nor a flag says the format.
    #[error("--out: end the name with .pdf, .svg or .png, or give --format")]
    NoFormat,
}
