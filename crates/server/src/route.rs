//! Which path means what. Doubled and missing slashes are forgiven without a redirect: most clients
//! turn a redirected POST or PATCH into a GET.

/// What a path names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Route<'a> {
    Claims,
    /// One claim, by its id or its id and key.
    Claim(&'a str),
    Resources,
    /// One resource, by its name, still encoded.
    Resource(&'a str),
    Renewals,
    Events,
    Live,
    Ready,
    Metrics,
}

/// Every method of every route, with an example of its path: for documents and tests.
pub fn routes() -> impl Iterator<Item = (&'static str, &'static str)> {
    Route::ALL
        .into_iter()
        .flat_map(|(route, path)| route.allow().split(", ").map(move |method| (method, path)))
}

impl Route<'static> {
    /// Each once, with an example of its path.
    const ALL: [(Self, &'static str); 9] = [
        (Self::Claims, "/v1/claims/"),
        (Self::Claim("7"), "/v1/claims/7/"),
        (Self::Resources, "/v1/resources/"),
        (Self::Resource("name"), "/v1/resources/name/"),
        (Self::Renewals, "/v1/renewals"),
        (Self::Events, "/v1/events"),
        (Self::Live, "/livez"),
        (Self::Ready, "/readyz"),
        (Self::Metrics, "/metrics"),
    ];
}

impl<'a> Route<'a> {
    pub(crate) fn of(path: &'a str) -> Option<Self> {
        let (first, rest) = step(path);
        let (second, rest) = step(rest);
        let route = match (first, second) {
            ("v1", "claims") => match step(rest) {
                ("", _) => return Some(Self::Claims),
                (claim, rest) => (Self::Claim(claim), rest),
            },
            ("v1", "resources") => match rest.strip_prefix('/').unwrap_or(rest) {
                "" => return Some(Self::Resources),
                // A name may have slashes of its own.
                name => return Some(Self::Resource(name.strip_suffix('/').unwrap_or(name))),
            },
            ("v1", "renewals") => (Self::Renewals, rest),
            ("v1", "events") => (Self::Events, rest),
            ("livez", "") => (Self::Live, rest),
            ("readyz", "") => (Self::Ready, rest),
            ("metrics", "") => (Self::Metrics, rest),
            _ => return None,
        };
        match step(route.1) {
            ("", _) => Some(route.0),
            _ => None,
        }
    }

    /// Whether this is for everybody, token or not: it tells nothing about claims.
    pub(crate) fn is_open(self) -> bool {
        match self {
            Self::Live | Self::Ready => true,
            Self::Claims
            | Self::Claim(_)
            | Self::Resources
            | Self::Resource(_)
            | Self::Renewals
            | Self::Events
            | Self::Metrics => false,
        }
    }

    /// The methods that mean something here.
    pub(crate) fn allow(self) -> &'static str {
        match self {
            Self::Claims => "GET, HEAD, OPTIONS, POST",
            Self::Claim(_) => "GET, HEAD, OPTIONS, PATCH",
            Self::Renewals => "OPTIONS, POST",
            Self::Resources
            | Self::Resource(_)
            | Self::Events
            | Self::Live
            | Self::Ready
            | Self::Metrics => "GET, HEAD, OPTIONS",
        }
    }
}

/// The next piece of a path and what follows it.
fn step(path: &str) -> (&str, &str) {
    let path = path.trim_start_matches('/');
    path.split_at(path.find('/').unwrap_or(path.len()))
}

#[cfg(test)]
mod tests {
    use super::Route;

    #[test]
    fn list_of_routes_has_each_once() {
        for (route, path) in Route::ALL {
            assert_eq!(Route::of(path), Some(route));
        }
        // The variants, counted in the source: the compiler cannot list them.
        let source = include_str!("route.rs");
        let body = source.split("pub(crate) enum Route<'a> {").nth(1).unwrap();
        let body = body.split("\n}").next().unwrap();
        let variants = body.lines().filter(|line| line.trim_end().ends_with(','));
        assert_eq!(variants.count(), Route::ALL.len());
    }

    #[test]
    fn paths_mean_what_they_say_with_any_number_of_slashes() {
        let table = [
            ("/v1/claims/", Some(Route::Claims)),
            ("/v1/claims", Some(Route::Claims)),
            ("//v1/claims/", Some(Route::Claims)),
            ("//v1//claims//", Some(Route::Claims)),
            ("/v1/claims/7/", Some(Route::Claim("7"))),
            ("/v1/claims/7.key", Some(Route::Claim("7.key"))),
            ("/v1/claims/7/8/", None),
            ("/v1/resources/", Some(Route::Resources)),
            ("/v1/resources/a%2Fb/", Some(Route::Resource("a%2Fb"))),
            ("/v1/resources/a/b", Some(Route::Resource("a/b"))),
            ("/v1/renewals", Some(Route::Renewals)),
            ("/v1/events/", Some(Route::Events)),
            ("/livez", Some(Route::Live)),
            ("/metrics/", Some(Route::Metrics)),
            ("/", None),
            ("/v1/", None),
            ("/v1/unknown-resource/", None),
            ("/unknown-resource/", None),
            ("/bad/v1/claims/", None),
        ];
        for (path, route) in table {
            assert_eq!(Route::of(path), route, "{path}");
        }
    }
}
