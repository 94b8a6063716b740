//! Wrong labels: which samples get one, and which.

use fabnet_core::rng::{Purpose, Stream};
use fabnet_core::settings::SettingsReader;

/// How labels are corrupted.
#[derive(Clone, Debug, PartialEq)]
pub enum LabelNoise {
    /// To any other class, all alike.
    Symmetric,
    /// To the class that this names for each class: similar things are confused.
    Map(Vec<u32>),
}

impl LabelNoise {
    /// Classes of Fashion-MNIST that look alike (the paper's App. C.4): T-shirt and shirt, trouser
    /// and dress, pullover and coat, sandal and sneaker, bag and boot.
    const ALIKE: [u32; 10] = [6, 3, 4, 1, 2, 7, 0, 5, 9, 8];

    /// The usual confusion of `classes` classes: those that look alike, or with another number of
    /// classes each with the next.
    pub fn asymmetric(classes: u32) -> Self {
        if classes as usize == Self::ALIKE.len() {
            Self::Map(Self::ALIKE.to_vec())
        } else {
            Self::Map((0..classes).map(|class| (class + 1) % classes).collect())
        }
    }

    /// What users can choose, to be completed by the number of classes.
    pub fn read(
        keys: &mut SettingsReader<'_>,
        symmetric: bool,
    ) -> impl Fn(u32) -> Result<Self, String> + Send + Sync + 'static {
        let kinds = [("asymmetric", false), ("symmetric", true)];
        let kinds = if symmetric { [kinds[1], kinds[0]] } else { kinds };
        let symmetric = keys.choice(
            "label_noise",
            &kinds,
            "wrong labels are those of a similar class (asymmetric), or of any other class",
        );
        let map = keys.text(
            "flips",
            "a text such as \"0>6 1>3\"",
            ["0>6 1>3", "1>0"],
            "wrong labels class by class instead; classes that are not named keep theirs",
        );
        move |classes| match &map {
            Some(map) => Self::parse(map, classes),
            None if symmetric => Ok(Self::Symmetric),
            None => Ok(Self::asymmetric(classes)),
        }
    }

    /// Reads pairs such as `0>6 1>3`.
    pub fn parse(map: &str, classes: u32) -> Result<Self, String> {
        let mut flips: Vec<u32> = (0..classes).collect();
        for pair in map.split([' ', ',']).filter(|pair| !pair.is_empty()) {
            let classes_of = |pair: &str| -> Option<(u32, u32)> {
                let (from, to) = pair.split_once('>')?;
                Some((from.parse().ok()?, to.parse().ok()?))
            };
            match classes_of(pair).filter(|(from, to)| *from < classes && *to < classes) {
                Some((from, to)) => flips[from as usize] = to,
                None => {
                    return Err(format!(
                        "flips: `{pair}` is no pair of classes such as 0>6 (they count from 0 to {})",
                        classes - 1
                    ));
                }
            }
        }
        Ok(Self::Map(flips))
    }

    /// The labels after this part of them, chosen at random, was corrupted.
    pub fn corrupt(&self, labels: &[u32], classes: u32, rate: f64, seed: u64, agent: usize) -> Vec<u32> {
        let mut stream = Stream::new(seed, agent, 0, Purpose::Labels);
        let mut corrupted = labels.to_vec();
        let wrong = (rate * labels.len() as f64).round() as usize;
        for &sample in &stream.permutation(labels.len())[..wrong] {
            let label = &mut corrupted[sample];
            *label = match self {
                Self::Symmetric => (*label + 1 + stream.below(classes as usize - 1) as u32) % classes,
                Self::Map(flips) => flips[*label as usize],
            };
        }
        corrupted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_asked_part_of_labels_is_wrong_and_only_that() {
        let labels: Vec<u32> = (0..1000).map(|sample| sample % 10).collect();
        for noise in [LabelNoise::Symmetric, LabelNoise::asymmetric(10)] {
            for rate in [0.0, 0.25, 1.0] {
                let corrupted = noise.corrupt(&labels, 10, rate, 3, 1);
                let wrong = labels.iter().zip(&corrupted).filter(|(before, after)| before != after).count();
                assert_eq!(wrong, (1000.0 * rate) as usize, "{noise:?} {rate}");
                assert!(corrupted.iter().all(|&label| label < 10));
                assert_eq!(corrupted, noise.corrupt(&labels, 10, rate, 3, 1));
            }
            assert_ne!(noise.corrupt(&labels, 10, 0.5, 3, 1), noise.corrupt(&labels, 10, 0.5, 3, 2));
        }
    }

    #[test]
    fn symmetric_noise_finds_every_other_class() {
        let corrupted = LabelNoise::Symmetric.corrupt(&[3; 900], 10, 1.0, 0, 0);
        let count = |class| corrupted.iter().filter(|&&label| label == class).count();
        assert!((0..10).filter(|&class| class != 3).all(|class| (60..140).contains(&count(class))));
        assert_eq!(count(3), 0);
    }

    #[test]
    fn maps_can_be_typed() {
        assert_eq!(LabelNoise::parse("0>2, 1>0", 3), Ok(LabelNoise::Map(vec![2, 0, 2])));
        assert!(LabelNoise::parse("0>3", 3).expect_err("too far").contains("from 0 to 2"));
        assert!(LabelNoise::parse("0-1", 3).is_err());
    }
}
