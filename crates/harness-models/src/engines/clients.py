"""The official clients of OpenAI and Anthropic against the gateway: one line of JSON for each thing that they do."""

import json
import os
import traceback

import anthropic
import openai
from pydantic import BaseModel

URL, TOKEN = os.environ["GATEWAY_URL"], os.environ["GATEWAY_TOKEN"]
CHAT, EMBED = os.environ["GATEWAY_CHAT"], os.environ["GATEWAY_EMBED"]
one = openai.OpenAI(base_url=f"{URL}/v1", api_key=TOKEN, max_retries=0)
two = anthropic.Anthropic(base_url=URL, api_key=TOKEN, max_retries=0)
TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Get the current weather for a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
ASK = [{"role": "user", "content": "What is the weather in Paris?"}]


class Weather(BaseModel):
    """A structured answer."""

    city: str
    degrees: int


def openai_models():
    names = [model.id for model in one.models.list()]
    assert CHAT in names and EMBED in names, names
    return f"{len(names)} models"


def openai_chat():
    answer = one.chat.completions.create(model=CHAT, messages=ASK, temperature=0)
    assert answer.object == "chat.completion" and answer.choices[0].message.content, answer
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens, answer.usage
    return answer.choices[0].finish_reason


def openai_stream():
    text, usage, finish = "", None, None
    stream = one.chat.completions.create(
        model=CHAT, messages=ASK, stream=True, stream_options={"include_usage": True}
    )
    for chunk in stream:
        usage = chunk.usage or usage
        for choice in chunk.choices:
            text += choice.delta.content or ""
            finish = choice.finish_reason or finish
    assert text and finish == "stop" and usage is not None, (text, finish, usage)
    return f"{len(text)} letters"


def openai_tools():
    answer = one.chat.completions.create(model=CHAT, messages=ASK, tools=[TOOL])
    call = answer.choices[0].message.tool_calls[0]
    assert call.function.name == "get_weather" and "city" in json.loads(call.function.arguments), call
    result = {"role": "tool", "tool_call_id": call.id, "content": "21C"}
    messages = ASK + [answer.choices[0].message.model_dump(exclude_none=True), result]
    last = one.chat.completions.create(model=CHAT, messages=messages, tools=[TOOL])
    assert last.choices[0].message.content, last
    return call.function.arguments


def openai_parsed():
    answer = one.chat.completions.parse(model=CHAT, messages=ASK, response_format=Weather)
    assert isinstance(answer.choices[0].message.parsed, Weather), answer
    return str(answer.choices[0].message.parsed)


def openai_embeddings():
    plain = one.embeddings.create(model=EMBED, input=["one", "two"], encoding_format="float")
    packed = one.embeddings.create(model=EMBED, input=["one", "two"])
    assert [item.index for item in packed.data] == [0, 1], packed
    near = all(
        abs(a - b) < 1e-5 for p, q in zip(plain.data, packed.data) for a, b in zip(p.embedding, q.embedding)
    )
    assert near and plain.data[0].embedding != plain.data[1].embedding
    return f"{len(packed.data[0].embedding)} numbers"


def openai_errors():
    try:
        one.chat.completions.create(model="nobody-has-this", messages=ASK)
    except (openai.NotFoundError, openai.PermissionDeniedError) as error:
        assert error.body and error.body.get("message"), error.body
    else:
        raise AssertionError("a model that is not there answered")
    try:
        one.chat.completions.create(model=CHAT, messages=[])
    except openai.BadRequestError as error:
        assert error.body and error.body.get("message"), error.body
    else:
        raise AssertionError("no message at all was answered")
    try:
        openai.OpenAI(base_url=f"{URL}/v1", api_key="wrong", max_retries=0).models.list()
    except openai.AuthenticationError:
        return "each as its own class"
    raise AssertionError("a wrong key was let in")


def anthropic_message():
    answer = two.messages.create(model=CHAT, max_tokens=64, messages=ASK, system="Be short.")
    assert answer.type == "message" and answer.content[0].type == "text" and answer.content[0].text, answer
    assert answer.usage.output_tokens >= 0, answer.usage
    return answer.stop_reason


def anthropic_stream():
    with two.messages.stream(model=CHAT, max_tokens=64, messages=ASK) as stream:
        text = "".join(stream.text_stream)
        last = stream.get_final_message()
    assert text and last.stop_reason in ("end_turn", "max_tokens"), last
    return f"{len(text)} letters"


def anthropic_tools():
    function = TOOL["function"]
    tool = {"name": function["name"], "description": function["description"], "input_schema": function["parameters"]}
    answer = two.messages.create(model=CHAT, max_tokens=64, messages=ASK, tools=[tool])
    use = next(block for block in answer.content if block.type == "tool_use")
    assert use.name == "get_weather" and "city" in use.input and answer.stop_reason == "tool_use", answer
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": use.id, "content": "21C"}]}
    said = {"role": "assistant", "content": [block.model_dump(exclude_none=True) for block in answer.content]}
    last = two.messages.create(model=CHAT, max_tokens=64, messages=[*ASK, said, result], tools=[tool])
    assert any(block.type == "text" for block in last.content), last
    return json.dumps(use.input)


def anthropic_count():
    function = TOOL["function"]
    tool = {"name": function["name"], "description": function["description"], "input_schema": function["parameters"]}
    short = two.messages.count_tokens(model=CHAT, messages=ASK).input_tokens
    more = two.messages.count_tokens(model=CHAT, messages=ASK, system="Be short. " * 40, tools=[tool]).input_tokens
    assert 0 < short < more, (short, more)
    return f"{short} and {more} tokens"


def anthropic_errors():
    try:
        two.messages.create(model="nobody-has-this", max_tokens=4, messages=ASK)
    except (anthropic.NotFoundError, anthropic.PermissionDeniedError):
        pass
    else:
        raise AssertionError("a model that is not there answered")
    try:
        anthropic.Anthropic(base_url=URL, api_key="wrong", max_retries=0).messages.create(
            model=CHAT, max_tokens=4, messages=ASK
        )
    except anthropic.AuthenticationError:
        return "each as its own class"
    raise AssertionError("a wrong key was let in")


for check in (
    openai_models, openai_chat, openai_stream, openai_tools, openai_parsed, openai_embeddings, openai_errors,
    anthropic_message, anthropic_stream, anthropic_tools, anthropic_count, anthropic_errors,
):
    try:
        print(json.dumps({"name": check.__name__, "ok": True, "detail": str(check())}), flush=True)
    except Exception:
        told = traceback.format_exc().strip().splitlines()
        print(json.dumps({"name": check.__name__, "ok": False, "detail": " | ".join(told[-3:])}), flush=True)
