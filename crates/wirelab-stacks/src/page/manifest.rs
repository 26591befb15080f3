//! A page's manifest, checked. Bodies are read in `site`.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use http::uri::PathAndQuery;
use percent_encoding::percent_decode_str;
use wirelab_schema::{
    EndpointParameters, PageFiles, PageLoads, PageManifest, PageResource, ResourceKind, WorkloadSpec,
};

use crate::StackError;

/// A manifest that holds together.
#[derive(Debug)]
pub struct Page {
    resources: Vec<PageResource>,
    /// Of each resource those that it names, by how much of it has to be there.
    named: Vec<Vec<usize>>,
    by_path: HashMap<String, usize>,
}

impl Page {
    /// Reads the manifest that the parameters name, which must be the workload's.
    pub fn read(parameters: &EndpointParameters) -> Result<Arc<Self>, StackError> {
        let path = &files(parameters)?.manifest;
        let usage = |words: String| StackError::Usage(format!("{}: {words}", path.display()));
        let text = fs::read_to_string(path).map_err(|error| usage(error.to_string()))?;
        let manifest = serde_json::from_str(&text).map_err(|error| usage(error.to_string()))?;
        let page = Page::new(manifest).map_err(&usage)?;
        let identity = loads(parameters).page;
        let bytes: u64 = page.resources.iter().map(|resource| resource.body_bytes).sum();
        if (page.resources.len(), bytes) != (identity.resources as usize, identity.body_bytes) {
            return Err(usage(format!(
                "has {} resources of {bytes} bytes; the workload's page has {} of {}",
                page.resources.len(),
                identity.resources,
                identity.body_bytes
            )));
        }
        Ok(Arc::new(page))
    }

    /// Checks a manifest; the error is in words.
    pub fn new(manifest: PageManifest) -> Result<Self, String> {
        let PageManifest { schema_version, resources, .. } = manifest;
        if schema_version != 1 {
            return Err(format!("`schema_version` is {schema_version}, this program's is 1"));
        }
        let document = resources.first().ok_or("has no resources")?;
        if document.parent.is_some() || document.kind != ResourceKind::Document || document.at_bytes > 0 {
            return Err(format!("{} is first and no page's document", document.path));
        }
        let mut named = vec![Vec::new(); resources.len()];
        let mut by_path = HashMap::new();
        for (index, resource) in resources.iter().enumerate() {
            check(resource)?;
            if by_path.insert(resource.path.clone(), index).is_some() {
                return Err(format!("{} is there twice", resource.path));
            }
            if index == 0 {
                continue;
            }
            let parent = resource.parent.map(|parent| parent as usize).filter(|parent| *parent < index);
            let parent = parent.ok_or_else(|| format!("{} does not stand behind its parent", resource.path))?;
            let most = resources[parent].body_bytes;
            if resource.at_bytes > most {
                return Err(format!("{} is found at byte {} of {most}", resource.path, resource.at_bytes));
            }
            named[parent].push(index);
        }
        for children in &mut named {
            children.sort_by_key(|child| resources[*child].at_bytes);
        }
        Ok(Page { resources, named, by_path })
    }

    /// Every resource, the document first.
    pub fn resources(&self) -> &[PageResource] {
        &self.resources
    }

    /// Those that a resource names, in the order in which its bytes name them.
    pub fn named_by(&self, resource: usize) -> &[usize] {
        &self.named[resource]
    }

    /// The resource of a path and query.
    pub fn find(&self, path: &str) -> Option<usize> {
        self.by_path.get(path).copied()
    }
}

/// Where the parameters say that the page is.
pub fn files(parameters: &EndpointParameters) -> Result<&PageFiles, StackError> {
    parameters.page.as_ref().ok_or_else(|| StackError::Usage("the workload `page` needs `page`".to_owned()))
}

/// The workload, which is known to be `page`.
pub fn loads(parameters: &EndpointParameters) -> PageLoads {
    match &parameters.workload {
        WorkloadSpec::Page(work) => work.clone(),
        _ => panic!("the caller asked which kind it is"),
    }
}

/// The name of a resource's file, relative to the page's folder.
pub fn file(resource: &PageResource) -> PathBuf {
    let path = resource.path.split_once('?').map_or(resource.path.as_str(), |(path, _)| path);
    percent_decode_str(path).decode_utf8_lossy().trim_start_matches('/').into()
}

fn check(resource: &PageResource) -> Result<(), String> {
    let PageResource { path, sha256, media_type, .. } = resource;
    let plain = file(resource);
    let inside = plain.components().all(|part| matches!(part, std::path::Component::Normal(_)));
    if !path.starts_with('/')
        || !path.is_ascii()
        || !PathAndQuery::try_from(path.as_str()).is_ok_and(|whole| whole == path.as_str())
        || !inside
        || plain.as_os_str().is_empty()
    {
        return Err(format!("`{path}` is not the path of a file"));
    }
    if sha256.len() != 64 || !sha256.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
        return Err(format!("{path}: `sha256` is `{sha256}`, not 64 lower-case hexadecimal digits"));
    }
    if http::HeaderValue::from_str(media_type).is_err() {
        return Err(format!("{path}: `media_type` is {media_type:?}, not the value of a field"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::load::tests::{page, resource};

    fn refusal(change: impl FnOnce(&mut Vec<PageResource>)) -> String {
        let mut resources = vec![
            resource("/", "index.html", 100, None, 0, ResourceKind::Document),
            resource("/", "a.css", 10, Some(0), 50, ResourceKind::Stylesheet),
        ];
        page(resources.clone());
        change(&mut resources);
        Page::new(PageManifest { schema_version: 1, resources, left_out: Vec::new() }).expect_err("refused")
    }

    #[test]
    fn an_inconsistent_manifest_is_refused_with_its_path() {
        assert!(refusal(|resources| resources.clear()).contains("no resources"));
        assert!(refusal(|resources| resources.swap(0, 1)).contains("/a.css is first"));
        assert!(refusal(|resources| resources[1].parent = None).contains("/a.css does not stand"));
        assert!(refusal(|resources| resources[1].parent = Some(1)).contains("/a.css does not stand"));
        assert!(refusal(|resources| resources[1].at_bytes = 101).contains("byte 101 of 100"));
        assert!(refusal(|resources| resources[1].path = resources[0].path.clone()).contains("twice"));
        assert!(refusal(|resources| resources[1].sha256 = "0".repeat(63)).contains("sha256"));
        for path in ["a.css", "/", "/../a", "/%2e%2e/a", "/a b", "/a#b", "/ä", "/a\u{7f}"] {
            assert!(refusal(|resources| resources[1].path = path.to_owned()).contains("path of a file"), "{path:?}");
        }
    }

    #[test]
    fn a_file_is_its_path_decoded_and_without_query() {
        let mut each = resource("/", "x", 1, None, 0, ResourceKind::Image);
        each.path = "/a%20b/c%C3%A4.png?v=1".to_owned();
        assert_eq!(file(&each), PathBuf::from("a b/cä.png"));
    }
}
