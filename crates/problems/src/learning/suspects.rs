//! The samples that are trusted least, as people who clean data want to see them.

use fabnet_core::finding::{Content, Histogram, Picture, Series};
use fabnet_core::{Finding, Scalar};

use super::data::Share;
use super::threshold::Threshold;

/// The training samples of an agent after a run: how much each is trusted, and what the model takes
/// it for.
pub(super) struct JudgedSamples<'a, T> {
    /// The agent that holds them.
    pub(super) agent: usize,
    /// The samples with the labels that they have.
    pub(super) share: &'a Share<T>,
    /// The weight of each sample.
    pub(super) weights: Vec<f64>,
    /// The class that the model predicts for each sample.
    pub(super) predicted: Vec<u32>,
}

/// The findings of all agents that are known here.
pub(super) struct Suspects<'a, T> {
    agents: Vec<JudgedSamples<'a, T>>,
    /// The threshold of each agent's weights; none if they are not two groups.
    thresholds: Vec<Option<Threshold>>,
    classes: &'a [String],
}

/// Suspects of each agent that are listed in `suspects`; `weights` has all samples.
const LISTED: usize = 100;
/// Suspects of all agents together that are drawn.
const DRAWN: usize = 40;
/// The bars of the histogram.
const BARS: usize = 40;

impl<'a, T: Scalar> Suspects<'a, T> {
    /// Suspects of these agents.
    pub(super) fn new(agents: Vec<JudgedSamples<'a, T>>, classes: &'a [String]) -> Self {
        let thresholds = agents.iter().map(|agent| Threshold::of(agent.weights.clone())).collect();
        Self { agents, thresholds, classes }
    }

    /// All that there is to see.
    pub(super) fn findings(&self) -> Vec<Finding> {
        let mut findings = vec![self.suspects(), self.weights(), self.thresholds(), self.histogram()];
        findings.extend(self.sheet());
        findings
    }

    fn suspects(&self) -> Finding {
        let rows = self.agents.iter().enumerate().flat_map(|(place, judged)| {
            judged.order().into_iter().take(LISTED).enumerate().map(move |(rank, sample)| {
                let truth = judged.truth(sample);
                let wrong = truth.map(|truth| (truth != judged.label(sample)).to_string());
                let known = [truth.map(|truth| self.name(truth)).unwrap_or_default(), wrong.unwrap_or_default()];
                let [agent, origin, weight, label, proposed, below] = self.row(place, sample);
                let [truth, wrong] = known;
                vec![agent, (rank + 1).to_string(), origin, weight, label, truth, wrong, proposed, below]
            })
        });
        let header = [
            "agent",
            "rank",
            "sample",
            "weight",
            "label",
            "true_label",
            "flipped",
            "proposed_label",
            "below_threshold",
        ];
        table("suspects", "training samples that are trusted least, by agent", &header, rows.collect())
    }

    fn weights(&self) -> Finding {
        let rows =
            self.agents.iter().enumerate().flat_map(|(place, judged)| {
                judged.order().into_iter().map(move |sample| self.row(place, sample).to_vec())
            });
        let header = ["agent", "sample", "weight", "label", "proposed_label", "below_threshold"];
        table("weights", "all training samples, the least trusted first", &header, rows.collect())
    }

    /// Agent, sample, weight, label, proposed label, and whether the weight is below the threshold.
    fn row(&self, place: usize, sample: usize) -> [String; 6] {
        let judged = &self.agents[place];
        let below = self.threshold(place).map(|threshold| (judged.weights[sample] < threshold.value).to_string());
        [
            judged.agent.to_string(),
            judged.share.origin[sample].to_string(),
            format!("{:.6}", judged.weights[sample]),
            self.name(judged.label(sample)),
            self.name(judged.predicted[sample]),
            below.unwrap_or_default(),
        ]
    }

    /// The threshold of an agent, if its weights are two groups.
    fn threshold(&self, place: usize) -> Option<&Threshold> {
        self.thresholds[place].as_ref().filter(|threshold| threshold.separates())
    }

    fn thresholds(&self) -> Finding {
        let rows = self.agents.iter().enumerate().map(|(place, judged)| {
            let count = |value: f64| judged.weights.iter().filter(|&&weight| weight < value).count().to_string();
            let number = |value: f64| format!("{value:.6}");
            let [separation, low, high] = match &self.thresholds[place] {
                Some(Threshold { separation, means, .. }) => [*separation, means[0], means[1]].map(number),
                None => [const { String::new() }; 3],
            };
            let found = self.threshold(place);
            let value = found.map(|threshold| number(threshold.value)).unwrap_or_default();
            let below = found.map(|threshold| count(threshold.value)).unwrap_or_default();
            vec![judged.agent.to_string(), judged.weights.len().to_string(), value, below, separation, low, high]
        });
        let title = "thresholds of sample weights by Otsu's method, where weights separate better than evenly";
        let header = ["agent", "samples", "threshold", "below", "separation", "mean_below", "mean_above"];
        table("thresholds", title, &header, rows.collect())
    }

    fn histogram(&self) -> Finding {
        let knows = self.agents.iter().all(|judged| judged.share.truth.is_some());
        let mut right = vec![0; BARS];
        let mut wrong = vec![0; BARS];
        for judged in &self.agents {
            for (sample, weight) in judged.weights.iter().enumerate() {
                let bar = ((weight * BARS as f64) as usize).min(BARS - 1);
                let is_wrong = judged.truth(sample).is_some_and(|truth| truth != judged.label(sample));
                let counts = if knows && is_wrong { &mut wrong } else { &mut right };
                counts[bar] += 1;
            }
        }
        let series = |name: &str, counts| Series { name: name.to_owned(), counts };
        let series = if knows {
            vec![series("right labels", right), series("wrong labels", wrong)]
        } else {
            vec![series("samples", right)]
        };
        let marks = (0..self.agents.len()).filter_map(|place| self.threshold(place)).map(|found| found.value);
        let histogram = Histogram {
            axis: "sample weight".to_owned(),
            range: (0.0, 1.0),
            series,
            marks: marks.collect(),
            marks_name: "thresholds of the agents".to_owned(),
        };
        Finding {
            name: "weights-histogram".to_owned(),
            title: "training samples by their weights".to_owned(),
            content: Content::Histogram(histogram),
        }
    }

    /// Pictures of the samples that are trusted least; none if samples are no pictures.
    fn sheet(&self) -> Option<Finding> {
        let mut worst: Vec<(f64, usize, usize)> = Vec::new();
        for (place, judged) in self.agents.iter().enumerate() {
            worst.extend(judged.order().iter().take(DRAWN).map(|&sample| (judged.weights[sample], place, sample)));
        }
        worst.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        worst.truncate(DRAWN);
        let pictures: Option<Vec<Picture>> =
            worst.iter().map(|&(_, place, sample)| self.picture(place, sample)).collect();
        Some(Finding {
            name: "suspects-sheet".to_owned(),
            title: "the samples that are trusted least: label as given, proposed label, true label if known, weight"
                .to_owned(),
            content: Content::Pictures(pictures?),
        })
    }

    fn picture(&self, place: usize, sample: usize) -> Option<Picture> {
        let judged = &self.agents[place];
        let truth = judged.truth(sample).map(|truth| format!("is {}", self.name(truth)));
        let samples = &judged.share.train;
        let caption = [
            Some(format!("“{}”", self.name(judged.label(sample)))),
            Some(format!("→ {}", self.name(judged.predicted[sample]))),
            truth,
            Some(format!("σ = {:.3}", judged.weights[sample])),
        ];
        Some(Picture {
            width: samples.picture()?,
            pixels: samples.row(sample).iter().map(|pixel| pixel.f64() as f32).collect(),
            caption: caption.into_iter().flatten().collect(),
        })
    }

    fn name(&self, class: u32) -> String {
        self.classes[class as usize].clone()
    }
}

impl<T: Scalar> JudgedSamples<'_, T> {
    /// The samples, the least trusted first.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.weights.len()).collect();
        order.sort_by(|&a, &b| self.weights[a].total_cmp(&self.weights[b]));
        order
    }

    /// The label that a sample has.
    fn label(&self, sample: usize) -> u32 {
        self.share.train.labels()[sample]
    }

    /// The true label of a sample, where it is known.
    fn truth(&self, sample: usize) -> Option<u32> {
        Some(self.share.truth.as_ref()?[sample])
    }
}

fn table(name: &str, title: &str, header: &[&str], rows: Vec<Vec<String>>) -> Finding {
    let header = header.iter().map(|&name| name.to_owned()).collect();
    Finding { name: name.to_owned(), title: title.to_owned(), content: Content::Table { header, rows } }
}
