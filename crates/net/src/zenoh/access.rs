//! The rules of access that every node with certificates enforces.

use serde_json::{Value, json};

use crate::config::{Config, Member};

/// Nothing is allowed but this: a member sends from its own agents, greets in its own name, and
/// hears what is for it; a router carries everything of the run.
pub(super) fn access_rules(config: &Config) -> Value {
    let run = &config.run;
    let mut rules = vec![json!({
        "id": "leave", "permission": "allow", "flows": ["egress"], "messages": ["put", "declare_subscriber"],
        "key_exprs": [format!("fabnet/{run}/**")],
    })];
    let mut subjects = Vec::new();
    let mut policies = Vec::new();
    for member in &config.members {
        let name = &member.name;
        rules.extend(member_rules(run, member));
        subjects.push(json!({ "id": name, "cert_common_names": [name] }));
        policies
            .push(json!({ "rules": ["leave", format!("{name} sends"), format!("{name} hears")], "subjects": [name] }));
    }
    if !config.routers.is_empty() {
        rules.push(json!({
            "id": "routers carry", "permission": "allow", "flows": ["ingress"],
            "messages": ["put", "declare_subscriber"], "key_exprs": [format!("fabnet/{run}/**")],
        }));
        let names: Vec<&str> = config.routers.iter().map(|router| router.name.as_str()).collect();
        subjects.push(json!({ "id": "routers", "cert_common_names": names }));
        policies.push(json!({ "rules": ["leave", "routers carry"], "subjects": ["routers"] }));
    }
    json!({ "enabled": true, "default_permission": "deny", "rules": rules, "subjects": subjects, "policies": policies })
}

fn member_rules(run: &str, Member { name, agents, .. }: &Member) -> [Value; 2] {
    let sends = agents.iter().map(|agent| format!("fabnet/{run}/{agent}/*"));
    let hears = agents.iter().map(|agent| format!("fabnet/{run}/*/{agent}"));
    [
        json!({
            "id": format!("{name} sends"), "permission": "allow", "flows": ["ingress"], "messages": ["put"],
            "key_exprs": sends.chain([format!("fabnet/{run}/hello/{name}")]).collect::<Vec<_>>(),
        }),
        json!({
            "id": format!("{name} hears"), "permission": "allow", "flows": ["ingress"],
            "messages": ["declare_subscriber"],
            "key_exprs": hears.chain([format!("fabnet/{run}/hello/*")]).collect::<Vec<_>>(),
        }),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::RouterSettings;

    fn config() -> Config {
        let member = |name: &str, agents: &[u32]| Member {
            name: name.into(),
            agents: agents.into(),
            address: format!("{name}:1"),
            http: None,
        };
        Config::new("r", "a", vec![member("a", &[0, 2]), member("b", &[1])])
    }

    /// The keys that the rule of this name allows.
    fn keys(rules: &Value, id: &str) -> Value {
        let rule = rules["rules"].as_array().unwrap().iter().find(|rule| rule["id"] == id);
        rule.map_or(Value::Null, |rule| rule["key_exprs"].clone())
    }

    #[test]
    fn a_member_sends_from_its_own_agents_and_hears_what_is_for_them() {
        let rules = access_rules(&config());
        assert_eq!(keys(&rules, "a sends"), json!(["fabnet/r/0/*", "fabnet/r/2/*", "fabnet/r/hello/a"]));
        assert_eq!(keys(&rules, "a hears"), json!(["fabnet/r/*/0", "fabnet/r/*/2", "fabnet/r/hello/*"]));
        assert_eq!(keys(&rules, "b sends"), json!(["fabnet/r/1/*", "fabnet/r/hello/b"]));
        assert_eq!(keys(&rules, "routers carry"), Value::Null);
        assert_eq!(rules["subjects"][1], json!({ "id": "b", "cert_common_names": ["b"] }));
    }

    #[test]
    fn routers_carry_everything_of_the_run() {
        let mut routed = config();
        routed.routers = vec![RouterSettings { name: "hub".into(), address: "hub:7447".into() }];
        let rules = access_rules(&routed);
        assert_eq!(keys(&rules, "routers carry"), json!(["fabnet/r/**"]));
        assert_eq!(rules["subjects"][2], json!({ "id": "routers", "cert_common_names": ["hub"] }));
    }
}
