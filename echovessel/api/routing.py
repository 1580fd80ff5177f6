"""Sections of the API. All methods of an address must be on one router, and an address may belong to several apps:
messages are chat's, forgetting them is memory's."""

from collections.abc import Callable
from typing import Any

from ninja import Router


class Section:
    """The operations of one app, under its tag, on a router that several apps share."""

    def __init__(self, router: Router, tag: str) -> None:
        self.router, self.tag = router, tag

    def get(self, path: str, **options: Any) -> Callable[..., Any]:
        return self.router.get(path, tags=[self.tag], **options)

    def post(self, path: str, **options: Any) -> Callable[..., Any]:
        return self.router.post(path, tags=[self.tag], **options)

    def put(self, path: str, **options: Any) -> Callable[..., Any]:
        return self.router.put(path, tags=[self.tag], **options)

    def patch(self, path: str, **options: Any) -> Callable[..., Any]:
        return self.router.patch(path, tags=[self.tag], **options)

    def delete(self, path: str, **options: Any) -> Callable[..., Any]:
        return self.router.delete(path, tags=[self.tag], **options)
