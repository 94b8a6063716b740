//! The first reading: what there is, before anything is written.

use std::hash::Hasher;

use twox_hash::XxHash3_64;

use crate::classes::Classes;
use crate::error::ImportError;
use crate::flaw::Flaw;
use crate::names::Names;
use crate::ranges::Ranges;
use crate::request::{ImportRequest, SiteSource};
use crate::row::{Features, LabelledRow};
use crate::source::RowSource;

/// What is kept of a row: enough to know where it belongs, and which others are equal to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// Where it stands in its input.
    pub(crate) position: u64,
    /// A checksum of its features.
    pub(crate) checksum: u64,
    /// The number of its class.
    pub(crate) class: u32,
    /// The number of its site.
    pub(crate) site: u32,
    /// The number of its input.
    pub(crate) input: u32,
    /// Whether its label is verified, if a column says so.
    pub(crate) verified: bool,
}

/// All that is known after the first reading.
pub(crate) struct Survey {
    /// The rows that can be used, in the order in which they are read.
    pub(crate) rows: Vec<Entry>,
    /// The names of the classes.
    pub(crate) classes: Vec<String>,
    /// The names of the sites.
    pub(crate) sites: Vec<String>,
    /// The ranges of the features of all rows.
    pub(crate) ranges: Ranges,
    /// The number of broken rows.
    pub(crate) broken: u64,
    /// The first broken rows.
    pub(crate) flaws: Vec<Flaw>,
}

/// Broken rows that are named; the others are counted.
const NAMED_FLAWS: usize = 10;

impl Survey {
    /// Reads all inputs once.
    pub(crate) fn of(
        sources: &[Box<dyn RowSource>],
        classes: Option<&[String]>,
        request: &ImportRequest,
    ) -> Result<Self, ImportError> {
        let features = sources.first().map_or(0, |source| source.layout().features());
        let mut reading = Reading::new(Classes::new(classes), features);
        for (input, source) in sources.iter().enumerate() {
            source.visit(&mut |record| match record {
                Ok(record) => reading.add(input, &**source, record),
                Err(flaw) => {
                    reading.note(flaw);
                    Ok(())
                }
            })?;
        }
        if reading.survey.broken > 0 && !request.skip_broken {
            let Self { broken: count, flaws: first, rows, .. } = reading.survey;
            return Err(ImportError::Broken { count, rows: count + rows.len() as u64, first });
        }
        reading.finish(request)
    }
}

/// A survey while rows are read.
struct Reading {
    survey: Survey,
    classes: Classes,
    sites: Names,
}

impl Reading {
    fn new(classes: Classes, features: usize) -> Self {
        let survey = Survey {
            rows: Vec::new(),
            classes: Vec::new(),
            sites: Vec::new(),
            ranges: Ranges::new(features),
            broken: 0,
            flaws: Vec::new(),
        };
        Self { survey, classes, sites: Names::default() }
    }

    fn add(&mut self, input: usize, source: &dyn RowSource, record: LabelledRow<'_>) -> Result<(), ImportError> {
        let class = match self.classes.number(record.label) {
            Ok(class) => class,
            Err(problem) => {
                self.note(Flaw { place: source.place(record.position), column: None, problem });
                return Ok(());
            }
        };
        if self.classes.are_too_many() {
            self.classes.check()?;
        }
        self.survey.ranges.add(record.features);
        self.survey.rows.push(Entry {
            position: record.position,
            checksum: checksum(record.features),
            class,
            site: record.site.map_or(input as u32, |site| self.sites.number(site)),
            input: input as u32,
            verified: record.verified.unwrap_or_default(),
        });
        Ok(())
    }

    fn note(&mut self, flaw: Flaw) {
        self.survey.broken += 1;
        if self.survey.flaws.len() < NAMED_FLAWS {
            self.survey.flaws.push(flaw);
        }
    }

    /// Brings classes and sites into their order.
    fn finish(self, request: &ImportRequest) -> Result<Survey, ImportError> {
        let Self { mut survey, classes, sites } = self;
        if survey.rows.is_empty() {
            return Err(ImportError::Request("the inputs have no rows that can be used".to_owned()));
        }
        classes.check()?;
        let (order, places) = classes.order();
        survey.classes = order;
        survey.rows.iter_mut().for_each(|row| row.class = places[row.class as usize]);
        survey.sites = match &request.sites {
            SiteSource::Inputs => request.inputs.iter().map(|path| path.display().to_string()).collect(),
            SiteSource::Divide(count) => (0..*count).map(|part| format!("part {part}")).collect(),
            SiteSource::Column(_) => {
                let order = sites.sorted();
                let places = sites.places_in(&order);
                survey.rows.iter_mut().for_each(|row| row.site = places[row.site as usize]);
                order
            }
        };
        Ok(survey)
    }
}

/// A checksum of the features of a row.
pub(crate) fn checksum(features: Features<'_>) -> u64 {
    match features {
        Features::Bytes(bytes) => XxHash3_64::oneshot(bytes),
        Features::Numbers(numbers) => {
            let mut hasher = XxHash3_64::new();
            // Zero has two signs, and they are equal numbers.
            for number in numbers {
                hasher.write(&(number + 0.0).to_le_bytes());
            }
            hasher.finish()
        }
    }
}
