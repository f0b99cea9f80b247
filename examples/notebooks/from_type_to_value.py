"""A type of Python in, a value of it out, by a model of Transformers in the folder ``MODEL``.

pip install 'constrain-grammar[transformers]' pydantic
"""

import os

from pydantic import BaseModel, Field
from transformers import AutoModelForCausalLM, AutoTokenizer

from constrain.compiler.serving.transformers import processor


class Person(BaseModel):
    """What is asked for."""

    name: str = Field(max_length=20)
    age: int = Field(ge=0, le=150)


name = os.environ.get("MODEL", "Qwen/Qwen2.5-0.5B-Instruct")
model, tokenizer = AutoModelForCausalLM.from_pretrained(name), AutoTokenizer.from_pretrained(name)
prompt = tokenizer("Ann turned 30 today. As JSON: ", return_tensors="pt")
wanted = [processor(tokenizer, Person, whitespace="compact")]
ids = model.generate(**prompt, logits_processor=wanted, max_new_tokens=300)
text = tokenizer.decode(ids[0, prompt.input_ids.shape[1] :], skip_special_tokens=True)
print(Person.model_validate_json(text))
