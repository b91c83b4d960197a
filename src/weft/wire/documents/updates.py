"""The documents about updates of batches."""

from typing import Annotated

from msgspec import Struct

from weft.wire.description import says
from weft.wire.documents.field_types import GroupCount, JobCount, PositiveInt
from weft.wire.documents.groups import GROUPS, GroupDocument, GroupInBunch
from weft.wire.documents.jobs import INHERIT_ENV, JobDocument


class UpdateDocument(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """`POST …/updates`: either numbers to reserve, or groups and jobs to commit."""

    n_jobs: Annotated[JobCount, says("Numbers of jobs to reserve.", 20_000)] = 0
    n_groups: Annotated[GroupCount, says("Numbers of groups to reserve.", 3)] = 0
    groups: Annotated[list[GroupDocument], GROUPS] = []
    jobs: Annotated[list[JobDocument], says("Jobs to commit at once.")] = []
    inherit_env: Annotated[dict[str, str] | None, INHERIT_ENV] = None


class JobBunch(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """`POST …/updates/{u}/jobs`: consecutive jobs."""

    first: Annotated[PositiveInt, says("Position of the first job in the update.", 1)]
    jobs: Annotated[list[JobDocument], says("At least one job.")]
    inherit_env: Annotated[dict[str, str] | None, INHERIT_ENV] = None


class GroupBunch(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """`POST …/updates/{u}/groups`: consecutive groups."""

    first: Annotated[PositiveInt, says("Number of the first group in the update.", 1)]
    groups: Annotated[list[GroupInBunch], says("Groups, parents before their children.")]
