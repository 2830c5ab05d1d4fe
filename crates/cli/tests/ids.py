"""python-icat, as it is, against a lock server: what it reads, and how it takes a refusal."""

import sys

import icat.exception
from icat.ids import IDSClient, IDSRequest

url, token = sys.argv[1:]
client = IDSClient(url + "/ids", sessionId=token)
assert client.apiversion >= "2.0", client.apiversion
client.ping()


def post(path, **parameters):
    parameters["sessionId"] = token
    query = "&".join(f"{name}={value}" for name, value in parameters.items())
    request = IDSRequest(f"{client.url}{path}?{query}", data=b"", method="POST")
    return client.opener.open(request).read().decode("ascii")


quiet = client.getServiceStatus()
assert (quiet["opsQueue"], quiet["lockCount"], quiet["locks"], quiet["failures"]) == ([], 0, [], []), quiet

post("locks", datasetIds="17,18", call="getData", owner="%D0%BD%D0%BE%D1%87%D1%8C")
post("locks", datasetIds="18", call="put")
post("operations", operation="ARCHIVE", datasetId="18", data="3/18")
status = client.getServiceStatus()
assert status["lockCount"] == 2, status
locks = [(lock["id"], lock["type"], lock["count"]) for lock in status["locks"]]
assert locks == [(17, "SHARED", 1), (18, "SHARED", 2)], status
assert status["locks"][0]["owner"] == "\u043d\u043e\u0447\u044c", status
assert [(op["data"], op["request"]) for op in status["opsQueue"]] == [("3/18", "ARCHIVE_REQUESTED")], status

try:
    post("locks", datasetIds="18", call="delete")
    raise AssertionError("it is locked")
except icat.exception.IDSDataNotOnlineError as error:
    assert "Data is busy" in str(error), error
try:
    post("locks", datasetIds="eighteen", call="delete")
    raise AssertionError("that is no number")
except icat.exception.IDSBadRequestError as error:
    assert "whole numbers" in str(error), error
try:
    IDSClient(url + "/ids", sessionId="somebody").getServiceStatus()
    raise AssertionError("that is no token")
except icat.exception.IDSInsufficientPrivilegesError as error:
    pass
print("well")
