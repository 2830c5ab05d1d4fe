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
    OpenApi,
    IdsStatus,
    IdsPing,
    IdsVersion,
    IdsLocks,
    /// A lock on datasets: the ids and keys of its claims.
    IdsLock(&'a str),
    IdsOperations,
    IdsWork,
    /// Work under a lock.
    IdsJob(&'a str),
}

impl Route<'static> {
    /// Every route there is, with the name of its variable piece.
    pub(crate) const EVERY: [Self; 18] = [
        Self::Claims,
        Self::Claim("{claim}"),
        Self::Resources,
        Self::Resource("{name}"),
        Self::Renewals,
        Self::Events,
        Self::Live,
        Self::Ready,
        Self::Metrics,
        Self::OpenApi,
        Self::IdsStatus,
        Self::IdsPing,
        Self::IdsVersion,
        Self::IdsLocks,
        Self::IdsLock("{lock}"),
        Self::IdsOperations,
        Self::IdsWork,
        Self::IdsJob("{lock}"),
    ];
}

/// Every method of every route, with its path as people write it: for documents and tests.
pub fn routes() -> impl Iterator<Item = (&'static str, &'static str)> {
    Route::EVERY
        .into_iter()
        .flat_map(|route| route.allow().split(", ").map(move |method| (method, route.template())))
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
            ("openapi.json", "") => (Self::OpenApi, rest),
            ("ids", "getServiceStatus") => (Self::IdsStatus, rest),
            ("ids", "ping") => (Self::IdsPing, rest),
            ("ids", "version") => (Self::IdsVersion, rest),
            ("ids", "locks") => match step(rest) {
                ("", _) => return Some(Self::IdsLocks),
                (lock, rest) => (Self::IdsLock(lock), rest),
            },
            ("ids", "operations") => (Self::IdsOperations, rest),
            ("ids", "work") => match step(rest) {
                ("", _) => return Some(Self::IdsWork),
                (lock, rest) => (Self::IdsJob(lock), rest),
            },
            _ => return None,
        };
        match step(route.1) {
            ("", _) => Some(route.0),
            _ => None,
        }
    }

    /// The path as people write it, with variables in braces.
    pub(crate) fn template(self) -> &'static str {
        match self {
            Self::Claims => "/v1/claims/",
            Self::Claim(_) => "/v1/claims/{claim}/",
            Self::Resources => "/v1/resources/",
            Self::Resource(_) => "/v1/resources/{name}/",
            Self::Renewals => "/v1/renewals",
            Self::Events => "/v1/events",
            Self::Live => "/livez",
            Self::Ready => "/readyz",
            Self::Metrics => "/metrics",
            Self::OpenApi => "/openapi.json",
            Self::IdsStatus => "/ids/getServiceStatus",
            Self::IdsPing => "/ids/ping",
            Self::IdsVersion => "/ids/version",
            Self::IdsLocks => "/ids/locks",
            Self::IdsLock(_) => "/ids/locks/{lock}",
            Self::IdsOperations => "/ids/operations",
            Self::IdsWork => "/ids/work",
            Self::IdsJob(_) => "/ids/work/{lock}",
        }
    }

    /// Whether this is for everybody, token or not: it tells nothing about claims.
    pub(crate) fn is_open(self) -> bool {
        match self {
            Self::Live | Self::Ready | Self::OpenApi | Self::IdsPing | Self::IdsVersion => true,
            Self::Claims
            | Self::Claim(_)
            | Self::Resources
            | Self::Resource(_)
            | Self::Renewals
            | Self::Events
            | Self::Metrics
            | Self::IdsStatus
            | Self::IdsLocks
            | Self::IdsLock(_)
            | Self::IdsOperations
            | Self::IdsWork
            | Self::IdsJob(_) => false,
        }
    }

    /// Whether this is for data services and their clients, who have words of their own.
    pub(crate) fn is_ids(self) -> bool {
        self.template().starts_with("/ids/")
    }

    /// The methods that mean something here.
    pub(crate) fn allow(self) -> &'static str {
        match self {
            Self::Claims => "GET, HEAD, OPTIONS, POST",
            Self::Claim(_) => "GET, HEAD, OPTIONS, PATCH",
            Self::Renewals | Self::IdsLocks | Self::IdsOperations | Self::IdsWork => {
                "OPTIONS, POST"
            }
            Self::IdsLock(_) => "DELETE, OPTIONS, PATCH",
            Self::IdsJob(_) => "OPTIONS, PATCH",
            Self::Resources
            | Self::Resource(_)
            | Self::Events
            | Self::Live
            | Self::Ready
            | Self::Metrics
            | Self::OpenApi
            | Self::IdsStatus
            | Self::IdsPing
            | Self::IdsVersion => "GET, HEAD, OPTIONS",
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
    fn every_route_is_found_by_its_own_template() {
        for (nth, route) in Route::EVERY.into_iter().enumerate() {
            assert_eq!(Route::of(route.template()), Some(route));
            assert_eq!(number(route), nth, "each route once, in the order of the enum");
        }
    }

    /// A new route does not compile here, and then has to be in the table.
    fn number(route: Route<'_>) -> usize {
        match route {
            Route::Claims => 0,
            Route::Claim(_) => 1,
            Route::Resources => 2,
            Route::Resource(_) => 3,
            Route::Renewals => 4,
            Route::Events => 5,
            Route::Live => 6,
            Route::Ready => 7,
            Route::Metrics => 8,
            Route::OpenApi => 9,
            Route::IdsStatus => 10,
            Route::IdsPing => 11,
            Route::IdsVersion => 12,
            Route::IdsLocks => 13,
            Route::IdsLock(_) => 14,
            Route::IdsOperations => 15,
            Route::IdsWork => 16,
            Route::IdsJob(_) => Route::EVERY.len() - 1,
        }
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
            ("/ids/getServiceStatus", Some(Route::IdsStatus)),
            ("/ids/locks/", Some(Route::IdsLocks)),
            ("/ids/locks/7.key,8.key", Some(Route::IdsLock("7.key,8.key"))),
            ("/ids/work/7.key/8", None),
            ("/ids/", None),
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
