//! Automatic step sizes of every method that has them.

use std::path::Path;

use fabnet_core::algorithm::methods;
use fabnet_lab::{Experiment, Folder, RunOptions, carry_out_plan};

/// A step size of zero, or a method that never moves, goes unnoticed otherwise: the run ends well.
#[test]
fn every_method_with_automatic_step_sizes_leaves_its_start() {
    for method in methods::<f64>().into_iter().filter(|method| method.direction.automatic) {
        let problem = if method.direction.bilevel { "policy-evaluation" } else { "quadratic" };
        let text = format!(
            "agents = 6\nrounds = 500\n[problem]\nkind = \"{problem}\"\n[topology]\nkind = \"phases\"\n\
             [[algorithm]]\nkind = \"{}\"\n[record]\nmetrics = [\"relative_error\"]\n",
            method.name
        );
        let plan = Experiment::parse(&text, Path::new("test.toml")).unwrap().plan().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let folder = Folder::new(folder.path());
        folder.begin(&plan).unwrap();
        let summary = carry_out_plan(&plan, &folder, RunOptions::new(2), &()).unwrap().summary;
        let error = summary.runs[0].last["relative_error"];
        assert!(error.is_some_and(|error| error < 0.1), "{}: {error:?} of the error at the start", method.name);
    }
}
