"""A Llama in one page: RMSNorm, rotary positions, grouped-query attention, SwiGLU, tied embeddings; all of it in GGUF's "llama".

Parameters have the names of transformers' LlamaForCausalLM, so the same weights load there (tests compare the two) and export.py needs one
table.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True, slots=True)
class Shape:
    """What determines the sizes of the weights. width is a multiple of heads, and heads of kv_heads."""

    vocabulary: int
    width: int
    layers: int
    heads: int
    kv_heads: int
    hidden: int
    context: int
    rope_base: float = 10_000.0
    norm_epsilon: float = 1e-5


def rotary(shape: Shape, length: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Cosines and sines (length, head width), in transformers' half-split order."""
    half = shape.width // shape.heads // 2
    frequency = shape.rope_base ** (-torch.arange(half, device=device, dtype=torch.float32) / half)
    angle = torch.outer(torch.arange(length, device=device, dtype=torch.float32), frequency)
    angle = torch.cat([angle, angle], dim=-1)
    return angle.cos(), angle.sin()


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    a, b = x.chunk(2, dim=-1)
    return (x * cos + torch.cat([-b, a], dim=-1) * sin).to(x.dtype)


class Attention(nn.Module):
    def __init__(self, s: Shape) -> None:
        super().__init__()
        self.heads, self.kv_heads, self.head = s.heads, s.kv_heads, s.width // s.heads
        self.q_proj = nn.Linear(s.width, s.heads * self.head, bias=False)
        self.k_proj = nn.Linear(s.width, s.kv_heads * self.head, bias=False)
        self.v_proj = nn.Linear(s.width, s.kv_heads * self.head, bias=False)
        self.o_proj = nn.Linear(s.heads * self.head, s.width, bias=False)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        b, t, _ = x.shape
        q = self.q_proj(x).view(b, t, self.heads, self.head).transpose(1, 2)
        k = self.k_proj(x).view(b, t, self.kv_heads, self.head).transpose(1, 2)
        v = self.v_proj(x).view(b, t, self.kv_heads, self.head).transpose(1, 2)
        # Repeated by hand: enable_gqa takes the slow path on the CPU.
        repeat = self.heads // self.kv_heads
        k, v = rotate(k, cos, sin).repeat_interleave(repeat, 1), v.repeat_interleave(repeat, 1)
        y = F.scaled_dot_product_attention(rotate(q, cos, sin), k, v, is_causal=True)
        out: Tensor = self.o_proj(y.transpose(1, 2).reshape(b, t, -1))
        return out


class MLP(nn.Module):
    def __init__(self, s: Shape) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(s.width, s.hidden, bias=False)
        self.up_proj = nn.Linear(s.width, s.hidden, bias=False)
        self.down_proj = nn.Linear(s.hidden, s.width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))
        return out


class Layer(nn.Module):
    def __init__(self, s: Shape) -> None:
        super().__init__()
        self.input_layernorm = nn.RMSNorm(s.width, eps=s.norm_epsilon)
        self.self_attn = Attention(s)
        self.post_attention_layernorm = nn.RMSNorm(s.width, eps=s.norm_epsilon)
        self.mlp = MLP(s)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        x = x + self.self_attn(self.input_layernorm(x), cos, sin)
        out: Tensor = x + self.mlp(self.post_attention_layernorm(x))
        return out


class Llama(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.embed_tokens = nn.Embedding(shape.vocabulary, shape.width)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        self.norm = nn.RMSNorm(shape.width, eps=shape.norm_epsilon)
        nn.init.normal_(self.embed_tokens.weight, std=0.02)
        for name, parameter in self.named_parameters():
            if name.endswith(("o_proj.weight", "down_proj.weight")):
                nn.init.zeros_(parameter)  # every layer starts as the identity: deeper models then train at the same rate
            elif name.endswith("proj.weight"):
                nn.init.normal_(parameter, std=0.4 / shape.width**0.5)

    def forward(self, tokens: Tensor) -> Tensor:
        """Token ids (batch, length) to the last layer's normed states (batch, length, width)."""
        cos, sin = rotary(self.shape, tokens.shape[1], tokens.device)
        x = self.embed_tokens(tokens)
        for layer in self.layers:
            x = layer(x, cos, sin)
        out: Tensor = self.norm(x)
        return out

    def loss(self, tokens: Tensor, targets: Tensor, weights: Tensor) -> Tensor:
        """Mean −log p of the targets, in nats, by weight; all (batch, length)."""
        logits = F.linear(self(tokens), self.embed_tokens.weight)
        nats = F.cross_entropy(logits.float().view(-1, self.shape.vocabulary), targets.reshape(-1), reduction="none")
        return (nats * weights.reshape(-1)).sum() / weights.sum()
