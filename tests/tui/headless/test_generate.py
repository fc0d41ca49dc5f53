"""Writing on from the shell: the model's own words, or all there is to know of them."""

import json

import numpy as np
import pytest

from glassllm import GlassLM
from tui import cli


@pytest.fixture(autouse=True)
def _in(folder):
    return folder


def written(capsys, *words):
    assert cli.main(["generate", "model.npz", *words]) == 0
    return capsys.readouterr()


def generated(prompt, n, **settings):
    model = GlassLM.load("model.npz")
    ids = model.tokenizer.encode(prompt) if prompt else [2]
    return [new.token for new in model.generate(ids, n, **settings)], model.tokenizer


@pytest.mark.parametrize(
    ("words", "settings"),
    [
        (["--seed", "3"], {"seed": 3}),
        (["--greedy"], {"greedy": True}),
        (["--seed", "1", "--temperature", "0.5", "--top-k", "4"], {"seed": 1, "temperature": 0.5, "top_k": 4}),
        (["--seed", "1", "--top-p", "0.4"], {"seed": 1, "top_p": 0.4}),
    ],
)
def test_the_prompt_and_what_the_model_writes(capsys, words, settings):
    tokens, tokenizer = generated("the cat", 20, **settings)
    out, err = written(capsys, "the cat", "-n", "20", *words)
    assert out == "the cat" + tokenizer.decode(tokens) + "\n" and err == ""


def test_without_a_prompt_it_begins_anew(capsys):
    tokens, tokenizer = generated("", 5, seed=1)
    assert written(capsys, "-n", "5", "--seed", "1").out == tokenizer.decode(tokens) + "\n"


def test_as_json_with_probabilities(capsys):
    tokens, tokenizer = generated("the cat", 6, seed=3, top_k=3)
    made = json.loads(written(capsys, "the cat", "-n", "6", "--seed", "3", "--top-k", "3", "--json").out)
    assert [token["id"] for token in made["tokens"]] == tokens
    assert made["text"] == tokenizer.decode(tokens) and made["ids"] == tokenizer.encode("the cat")
    assert (made["seed"], made["top_k"], made["greedy"]) == (3, 3, False)
    model = GlassLM.load("model.npz")
    first = next(model.generate(made["ids"], 1, seed=3))
    token = made["tokens"][0]
    assert token["probability"] == first.probs[token["id"]] < token["drawn_from"]
    assert token["surprisal"] == pytest.approx(-np.log(token["probability"]))
    assert 1 <= token["rank"] <= 3 and token["token"] == tokenizer.tokens([tokens[0]])[0]


def test_a_seed_that_was_not_given_is_said(capsys):
    made = json.loads(written(capsys, "the", "--json").out)
    again = json.loads(written(capsys, "the", "--json", "--seed", str(made["seed"])).out)
    assert made == again and len(made["tokens"]) == 50


def test_characters_the_model_lacks_are_counted(capsys):
    out, err = written(capsys, "the Zar\x1b[31m Z", "-n", "1")
    assert err == (
        "glassllm-tui: the prompt: 7 characters are unknown to the model, taken as <unk>: "
        "'Z' 2, 'r' 1, '\\x1b' 1, '[' 1, '3' 1, …\n"
    )
    assert "\x1b" not in out and out.startswith("the Zar")


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("zzzzzz.npz", "zzzzzz.npz: no such file; check the name"),
        ("text.txt", "text.txt: not an .npz archive; name a .npz file"),
        ("mute.npz", "mute.npz: the model comes without a tokenizer; put one beside it, NAME.tokenizer.json"),
        ("nan.npz", "nan.npz: the last logits hold NaN or Inf, so no token can be drawn from them; open it .*"),
    ],
)
@pytest.mark.parametrize("how", [[], ["--json"]])
def test_models_that_cannot_write(capsys, file, line, how):
    broken = GlassLM.load("model.npz")
    broken.norm_f.gamma.data[:] = np.nan
    broken.save("nan.npz")
    with pytest.raises(SystemExit) as left:
        cli.main(["generate", file, "the", *how])
    err = capsys.readouterr().err
    assert left.value.code == 2 and err.count("\n") == 1
    assert err.startswith(f"glassllm-tui: {line}".removesuffix(".*"))


def test_an_interrupt_ends_it(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("tui.headless.generate.Continuations.advance", interrupted)
    assert cli.main(["generate", "model.npz", "the"]) == 130


def test_as_json_with_what_might_come_and_the_events_that_make_it(capsys):
    words = ["the cat", "-n", "3", "--seed", "3", "--top-k", "2", "--json", "--likeliest", "4", "--events"]
    made = json.loads(written(capsys, *words).out)
    assert made["text"] == json.loads(written(capsys, *words[:8]).out)["text"]
    model = GlassLM.load("model.npz")
    steps = list(model.generate(made["ids"], 3, seed=3, top_k=2, trace=True))
    for token, step in zip(made["tokens"], steps, strict=True):
        assert [each["cut_by"] for each in token["likeliest"]] == [None, None, "top-k", "top-k"]
        assert [each["drawn_from"] for each in token["likeliest"]] == sorted(step.probs, reverse=True)[:4]
        for event, record in zip(token["events"], step.trace.records, strict=True):
            assert event["scope"].endswith(record.id) and event["shape"] == list(record.shape)
            finite = record.value[np.isfinite(record.value)]
            assert (event["min"], event["max"]) == (finite.min(), finite.max())
        assert token["events"][-1]["max"] == token["id"] == step.token


@pytest.mark.parametrize("word", ["--events", "--likeliest=3"])
def test_what_is_for_json_says_so(capsys, word):
    with pytest.raises(SystemExit) as left:
        cli.main(["generate", "model.npz", word])
    assert left.value.code == 2 and "--json" in capsys.readouterr().err
