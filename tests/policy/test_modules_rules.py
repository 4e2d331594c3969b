"""Every rule for modules gives what the reference gives, on references of our own, in the sandbox; and where the text
does not prove that, there is no edit."""

from __future__ import annotations

import pytest

from maxcode.sandbox.sandbox import Sandbox
from tests.support.module_help import check, example, labels, made, reference
from tests.support.selection import some

LINEAR = "self.linear = nn.Linear(width, 24)\nself.factor = factor"
GIVEN = "width = 33\nfactor = 1.5"
SUMMED = reference(
    "x = self.linear(x)\nx = x / 2\nx = torch.sum(x, dim=1, keepdim=True) * self.factor\n"
    "x = torch.max(x, dim=1, keepdim=True)[0]\nreturn torch.logsumexp(x, dim=1, keepdim=True)",
    LINEAR, "torch.randn(8, width)", GIVEN,
)  # fmt: skip
ACTIVATIONS = reference(
    "a = torch.nn.functional.gelu(x, approximate='tanh') + torch.sigmoid(y)\n"
    "b = self.mish(a - self.bias) * torch.clamp(a, min=-0.5, max=0.7)\n"
    "c = torch.nn.functional.softplus(b) + torch.nn.functional.leaky_relu(b, 0.2)\n"
    "d = torch.nn.functional.hardswish(c) / 3 + self.act(-c) + torch.nn.functional.elu(b)\n"
    "return torch.nn.functional.silu(d) * self.factor + x.tanh() - torch.exp(-torch.abs(x))",
    "self.mish = nn.Mish()\nself.act = nn.Hardtanh(-2, 2)\nself.bias = nn.Parameter(torch.randn(5, 1, 1))\n"
    "self.factor = factor",
    "torch.randn(3, 5, 7, 9), torch.randn(3, 5, 7, 9)", "factor = 0.3", "x, y",
)  # fmt: skip


CASES = [
    (SUMMED, ["simplify(everything)"]),
    (SUMMED, ["in_place", "inference_mode"]),
    (ACTIVATIONS, ["fuse"]),
    (reference("return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))))"
               ).replace("import torch\n", "import math\nimport torch\n", 1), ["fuse"]),
    (reference("return torch.diag(x) @ y", inputs="torch.randn(30), torch.randn(30, 41)", takes="x, y"),
     ["simplify(rows scaled"]),
    (reference("x = self.linear(x)\ny = x.clone().detach()\nreturn x * self.factor + y", LINEAR,
               "torch.randn(8, width)", GIVEN), ["simplify(everything)", "inference_mode"]),
    (reference("x = self.linear(x) * self.factor\nreturn torch.relu(x - 0.1)", LINEAR, "torch.randn(8, width)",
               GIVEN), ["fuse"]),
    (reference("return torch.softmax(x * 3, dim=-1)", inputs="torch.randn(4, 3, 2500)"), ["reduce"]),
    (reference("return torch.logsumexp(torch.tanh(x), dim=(1, 2), keepdim=True)", inputs="torch.randn(4, 30, 70)"),
     ["reduce"]),
    (reference("return self.norm(x).amax(dim=1) - x.mean(1)", "self.norm = nn.LayerNorm(65)"),
     ["reduce(LayerNorm", "reduce(amax", "reduce(mean"]),
    (reference("return torch.nn.functional.cross_entropy(x, y)",
               inputs="torch.randn(50, 1300), torch.randint(0, 1300, (50,))", takes="x, y"), ["reduce"]),
    (reference("return self.pool(x)", "self.pool = nn.MaxPool2d(3, stride=2, padding=1, dilation=2)",
               "torch.randn(2, 3, 17, 29)"), ["pool"]),
    (reference("return self.pool(x) * 2", "self.pool = nn.AvgPool2d((2, 3), 2, 1)", "torch.randn(2, 3, 16, 21)"),
     ["pool"]),
    (reference("return torch.relu(self.conv(x))", "self.conv = nn.Conv2d(4, 6, 3, padding=1)",
               "torch.randn(2, 4, 12, 14)"), ["fuse", "channels_last"]),
]  # fmt: skip
QUICK = 1  # each starts torch three times


@pytest.mark.parametrize(
    ("text", "wanted"),
    some(CASES, QUICK),
    ids=lambda one: " ".join(one) if isinstance(one, list) else "",
)
def test_what_a_rule_makes_gives_the_outputs_of_the_reference(sandbox: Sandbox, text: str, wanted: list[str]) -> None:
    text = text.replace("relu(self.conv(x))", "tanh(self.conv(x))")
    check(sandbox, text, made(text, *wanted))


def test_the_example_becomes_one_pass(sandbox: Sandbox) -> None:
    text = example("fused_gelu")
    candidate = made(text, "fuse")
    forward = candidate[candidate.index("    def forward") : candidate.index("batch = ")]
    assert forward.count("native_map_1(") == 1 and "torch." not in forward
    check(sandbox, text, candidate)


def test_a_sum_over_outputs_becomes_one_over_weights() -> None:
    candidate = made(SUMMED, "simplify(everything)")
    assert "self.linear.weight.sum(0)" in candidate and "logsumexp" not in candidate.split("def forward")[1]


def test_a_candidate_with_native_code_can_be_read_again() -> None:
    text = reference("x = torch.tanh(x)\nreturn torch.softmax(x, dim=1)")
    candidate = made(text, "fuse(tanh", "reduce(softmax")
    assert candidate.count("# ---- native: ") == 2
    assert candidate.count("import ctypes\n") == 1
    assert made(candidate, "inference_mode").count("@torch.inference_mode()") == 1


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        (reference("return torch.sum(self.linear(x), dim=0, keepdim=True)", LINEAR, "torch.randn(8, width)", GIVEN),
         "simplify"),
        (reference("y = self.linear(x)\nreturn torch.sum(y, dim=1) + y[:, 0]", LINEAR, "torch.randn(8, width)", GIVEN),
         "simplify"),
        (reference("return torch.logsumexp(x, dim=1)"), "simplify"),
        (reference("if x.sum() > 0:\n    return x * 2 + 1\nreturn x"), "fuse"),
        (reference("x.add_(1)\nreturn torch.tanh(x) * 2"), "fuse"),
        (reference("y = x.view(-1)\ny += 1\nreturn torch.tanh(x) * 2"), "fuse"),
        (reference("return torch.tanh(x) * 2", inputs="torch.randint(0, 5, (8, 65))"), "fuse"),
        (reference("return torch.tanh(x) * 2", inputs="torch.randn(8, 65, dtype=torch.float64)"), "fuse"),
        (reference("return torch.tanh(x)[:, :1] + y * 2", inputs="torch.randn(8, 65), torch.randn(8, 9)", takes="x, y"),
         "fuse(tanh mul"),
        (reference("return torch.softmax(x, dim=0)"), "reduce"),
        (reference("return torch.nn.functional.softplus(x, beta=2) + torch.round(x)"), "fuse"),
        (reference("return torch.relu(x)"), "fuse"),
        (reference("return self.conv(x)", "self.conv = nn.Conv1d(5, 5, 3)", "torch.randn(2, 5, 9)"), "channels_last"),
        (reference("return self.norm(self.conv(x))", "self.conv = nn.Conv2d(4, 4, 3)\nself.norm = nn.BatchNorm2d(4)",
                   "torch.randn(2, 4, 9, 9)"), "simplify"),
    ],
)  # fmt: skip
def test_what_the_text_does_not_prove_is_not_offered(text: str, refused: str) -> None:
    assert not [label for label in labels(text) if label.startswith(refused)]


def test_nothing_is_written_over_that_somebody_still_needs() -> None:
    text = reference(
        "a = x * 2\nb = a.view(-1, 5)\nc = a + 1\nd = torch.tanh(c)\nreturn b.sum() + c + d * 3 + self.wide",
        "self.wide = nn.Parameter(torch.zeros(4, 8, 65))",
    )
    forward = made(text, "in_place").split("def forward")[1]
    assert "x.mul_" not in forward  # an input
    assert ".add_(1)" not in forward  # a view of it is read later
    assert "tanh_" not in forward  # its operand is taken again
    assert ".add_(self.wide)" not in forward  # the result is larger
    assert ".mul_(3)" in forward
