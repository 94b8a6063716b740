//! An import from beginning to end.

use std::fs;

use crate::duplicates::Duplicates;
use crate::error::{ImportError, failed};
use crate::layout::FeatureLayout;
use crate::parts::{self, Part};
use crate::recipe::ImportRecipe;
use crate::report::{ImportReport, SiteReport};
use crate::request::{ImportRequest, SiteSource, Verified};
use crate::row::LabelledRow;
use crate::scaling::{FeatureScaling, ScalingKind};
use crate::site_files::{PartSpec, SiteFiles};
use crate::source::{self, RowSource};
use crate::survey::{Entry, Survey, checksum};

/// An import whose inputs were read once.
struct SurveyedImport<'a> {
    request: &'a ImportRequest,
    sources: Vec<Box<dyn RowSource>>,
    layout: FeatureLayout,
    survey: Survey,
    parts: Vec<Part>,
    scaling: FeatureScaling,
}

impl ImportRequest {
    /// Reads the inputs, and writes a file of own data for each site, one to test with, and the
    /// recipe for other sites.
    pub fn carry_out(&self) -> Result<ImportReport, ImportError> {
        self.check()?;
        let import = SurveyedImport::survey(self)?;
        let folder = self.out.join("own");
        fs::create_dir_all(&folder).map_err(failed(&folder))?;
        let mut files = import.begin_files()?;
        if let Err(error) = import.write(&mut files) {
            files.iter().for_each(SiteFiles::discard);
            return Err(error);
        }
        Ok(import.report(&files))
    }

    /// Refuses what contradicts itself before anything is read.
    fn check(&self) -> Result<(), ImportError> {
        let wrong = |problem: &str| Err(ImportError::Request(problem.to_owned()));
        let is_part = |fraction: f64| (0.0..1.0).contains(&fraction);
        match (&self.sites, &self.verified) {
            _ if self.inputs.is_empty() => wrong("there is no input"),
            _ if !is_part(self.test) => wrong("--test is a fraction of at least 0 and below 1"),
            (_, Verified::Fraction(fraction)) if !is_part(*fraction) || *fraction == 0.0 => {
                wrong("--checked is a fraction above 0 and below 1")
            }
            (SiteSource::Divide(0), _) => wrong("--sites is at least 1"),
            _ => Ok(()),
        }
    }

    /// The layout that all inputs have.
    fn common_layout(&self, sources: &[Box<dyn RowSource>]) -> Result<FeatureLayout, ImportError> {
        let layout = sources[0].layout().clone();
        for (path, source) in self.inputs.iter().zip(sources) {
            if let Some(difference) = layout.difference(source.layout()) {
                return Err(ImportError::input(path, difference));
            }
        }
        if layout.bytes && self.scaling != ScalingKind::None {
            let problem = "images are read as values from 0 to 1: --scale is for tables and other arrays";
            return Err(ImportError::Request(problem.to_owned()));
        }
        Ok(layout)
    }
}

impl<'a> SurveyedImport<'a> {
    /// The first reading.
    fn survey(request: &'a ImportRequest) -> Result<Self, ImportError> {
        let sources: Vec<Box<dyn RowSource>> =
            request.inputs.iter().map(|path| source::open(path, request)).collect::<Result<_, _>>()?;
        let layout = request.common_layout(&sources)?;
        let like = request.like.as_ref().map(|path| ImportRecipe::read(path, &layout)).transpose()?;
        let classes = like.as_ref().map(|recipe| &recipe.classes).or(request.classes.as_ref());
        let mut survey = Survey::of(&sources, classes.map(Vec::as_slice), request)?;
        let parts = parts::assign(&mut survey, request)?;
        let own = || FeatureScaling::of(request.scaling, &survey.ranges);
        let scaling = like.map_or_else(own, |recipe| recipe.scaling);
        Ok(Self { request, sources, layout, survey, parts, scaling })
    }

    /// Begins the files of all sites, and the file of test data last if there is any.
    fn begin_files(&self) -> Result<Vec<SiteFiles>, ImportError> {
        let mut counts = vec![[0, 0]; self.survey.sites.len()];
        let mut test = 0;
        for (entry, part) in self.survey.rows.iter().zip(&self.parts) {
            match part {
                Part::Train => counts[entry.site as usize][0] += 1,
                Part::Checked => counts[entry.site as usize][1] += 1,
                Part::Test => test += 1,
            }
        }
        let part = |rows, labels, count| PartSpec { rows, labels, count };
        let names = (self.request.first_agent..).map(|agent| agent.to_string());
        let sites = names.zip(counts).map(|(name, [train, checked])| {
            (name, vec![part("train", "train_labels", train), part("checked", "checked_labels", checked)])
        });
        let test = (test > 0).then(|| ("test".to_owned(), vec![part("test", "test_labels", test)]));
        self.begin_each(sites.chain(test))
    }

    /// Begins files with these names and parts. Where one fails, none is left behind.
    fn begin_each(&self, files: impl Iterator<Item = (String, Vec<PartSpec>)>) -> Result<Vec<SiteFiles>, ImportError> {
        let folder = self.request.out.join("own");
        let mut begun = Vec::new();
        for (name, parts) in files {
            match SiteFiles::begin(&folder.join(name), &parts, (&self.layout, self.request.precision)) {
                Ok(files) => begun.push(files),
                Err(error) => {
                    begun.iter().for_each(SiteFiles::discard);
                    return Err(error);
                }
            }
        }
        Ok(begun)
    }

    /// Writes all rows and the recipe, and only then gives the files their names.
    fn write(&self, files: &mut [SiteFiles]) -> Result<(), ImportError> {
        self.write_rows(files)?;
        files.iter_mut().try_for_each(SiteFiles::complete)?;
        // Whoever takes a recipe over has one.
        if self.request.like.is_none() {
            let recipe = ImportRecipe::new(&self.layout, self.survey.classes.clone(), self.scaling.clone());
            recipe.write(&self.request.out.join("own").join("import.json"))?;
        }
        files.iter().try_for_each(SiteFiles::publish)
    }

    /// The second reading: writes each row where it belongs.
    fn write_rows(&self, files: &mut [SiteFiles]) -> Result<(), ImportError> {
        let mut rows = self.survey.rows.iter().zip(&self.parts).peekable();
        for (input, source) in self.sources.iter().enumerate() {
            let changed = || ImportError::input(&self.request.inputs[input], "it has changed while it was read");
            source.visit(&mut |row| {
                // Broken rows, and rows whose label is none of the classes, are not in the survey.
                let Ok(row) = row else { return Ok(()) };
                let is_next =
                    |(entry, _): &(&Entry, &Part)| (entry.input as usize, entry.position) == (input, row.position);
                match rows.next_if(is_next) {
                    Some((entry, _)) if entry.checksum != checksum(row.features) => Err(changed()),
                    Some((entry, part)) => self.write_row(files, row, entry, *part),
                    None => Ok(()),
                }
            })?;
            if rows.peek().is_some_and(|(entry, _)| entry.input as usize == input) {
                return Err(changed());
            }
        }
        Ok(())
    }

    fn write_row(
        &self,
        files: &mut [SiteFiles],
        row: LabelledRow<'_>,
        entry: &Entry,
        part: Part,
    ) -> Result<(), ImportError> {
        let (file, part) = match part {
            Part::Train => (entry.site as usize, 0),
            Part::Checked => (entry.site as usize, 1),
            Part::Test => (files.len() - 1, 0),
        };
        let label = &self.survey.classes[entry.class as usize];
        let origin = self.sources[entry.input as usize].place(row.position);
        files[file].add(part, (row.features, &self.scaling), (entry.class, label, &origin))
    }

    fn report(&self, files: &[SiteFiles]) -> ImportReport {
        let Self { sources, survey, .. } = self;
        let duplicates = Duplicates::of(survey);
        let place = |row: usize| sources[survey.rows[row].input as usize].place(survey.rows[row].position);
        ImportReport {
            folder: self.request.out.clone(),
            rows: self.layout.describe(),
            features: self.layout.features(),
            classes: survey.classes.clone(),
            sites: self.site_reports(&duplicates, files),
            equal: duplicates.first.iter().map(|&(a, b)| (place(a), place(b))).collect(),
            broken: survey.broken,
            flaws: survey.flaws.clone(),
            left_out: sources.iter().filter_map(|source| source.left_out()).collect(),
        }
    }

    fn site_reports(&self, duplicates: &Duplicates, files: &[SiteFiles]) -> Vec<SiteReport> {
        let site_report = |(site, name): (usize, &String)| SiteReport {
            name: name.clone(),
            agent: self.request.first_agent + site,
            rows: [0; 3],
            classes: vec![0; self.survey.classes.len()],
            range: files[site].range(),
            repeated: duplicates.repeated[site],
            elsewhere: duplicates.elsewhere[site],
            contradicted: duplicates.contradicted[site],
        };
        let mut sites: Vec<SiteReport> = self.survey.sites.iter().enumerate().map(site_report).collect();
        for (entry, part) in self.survey.rows.iter().zip(&self.parts) {
            let site = &mut sites[entry.site as usize];
            site.rows[*part as usize] += 1;
            site.classes[entry.class as usize] += 1;
        }
        sites
    }
}
