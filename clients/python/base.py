"""What the generated operations are methods of. Copied among them, which is why it names its neighbours so."""

from ..transport import Transport
from .base_model import BaseModel, UnsetType


class Base(Transport):
    """Knows how variables of operations travel."""

    def plain(self, value: object) -> object:
        """The value as JSON has it: an input without what was not set."""
        if isinstance(value, BaseModel):
            return value.model_dump(mode="json", by_alias=True, exclude_unset=True)
        if isinstance(value, list):
            return [self.plain(each) for each in value]
        return value

    def is_set(self, value: object) -> bool:
        """Whether the value was given."""
        return not isinstance(value, UnsetType)
