"""Exports: a run's episodes as files that other trainers read.

Invariant: only episodes that carry a reward are written, in one file that is there whole or not at all; what is left
out, and what a format can't say, is counted. Every format but `parquet` holds text that its trainer renders anew.

`parquet`: a row a Sample, exact; also what calls without tokens said (`kind` = "text").

    kind             string: "tokens", or "text": for supervised training alone, its token columns are empty
    token_ids        list<int32> (T): images as placeholders
    mask             list<bool> (T): the tokens that are trained
    logprobs         list<double> (T): under the policy that sampled; 0 where mask is false, NaN where it gave none
    rewards          list<float> (T): gamma^(T - t) * reward of each trained token; of a text, of each trained reply
    images           list<struct<bytes: binary, path: string>>: in order; `datasets` decodes them
    image_hashes     list<string>: the same images by content hash in the run
    image_starts, image_stops    list<int32>: the tokens that each fills, from start up to, not with, stop
    turn_calls, turn_starts, turn_stops, turn_trained    of each call of the branch: where its reply lies, whether the
                     mask covers it here
    messages         string, JSON: of a text, as in the format `messages`
    and the columns that every format has:
    episode, task, seed, attempt, harness, policy, status, reward    whose it is; a group shares all but attempt
    weight           double: of each trained token (of a text: reply); over an episode these sum to 1
    calls            list<int32>: the calls that are trained in the row
    policy_versions  list<string>: of these calls

`trl`: a row a reply, conversational prompt-completion as TRL's SFTTrainer takes it.

    prompt, completion    list<struct<role, content: list<struct<type, text>>, ...>>; a part {"type": "image"} an image
    images                as above; images of tools' messages stand in a user's message after them, where TRL takes them
    tools                 string, JSON, or null

`verl`: a row a branch, as verl's MultiTurnSFTDataset takes it.

    messages         list<struct<role, content: string, ...>>, "<image>" where an image stands
    images           list<struct<bytes>>, or list<struct<image: "file://...">> by path
    tools            string, JSON, or null
    trained          list<int32>: positions of the replies to train. verl trains every reply in `messages`: `repeated`
                     counts those that this trains again
    data_source      string: the suite

`messages`: JSON lines, a line a branch, as OpenAI's fine-tuning takes it.

    messages         content in parts, images as data URLs or file URLs; `weight` 1 on the replies to train, 0 on others
    tools            where there are any
    metadata         the columns that every format has
"""

from guiforge.samples.exports.rows import ImagesAs
from guiforge.samples.exports.run import FORMATS, Exported, Format, Options, export_run

__all__ = ["FORMATS", "Exported", "Format", "ImagesAs", "Options", "export_run"]
