"""Tests of our Adam against PyTorch's Adam."""

import torch
from torch import nn

from transformer.training.adam import Adam

STEPS = 5


def test_steps_equal_those_of_pytorch_bit_for_bit():
    """β₁ 0.9, β₂ 0.98 and ε 1e-9 (section 5.3); no weight decay, which the paper does not use."""
    torch.manual_seed(1)
    ours = [nn.Parameter(torch.randn(3, 4)), nn.Parameter(torch.randn(5))]
    theirs = [nn.Parameter(each.detach().clone()) for each in ours]
    optimizer, peer = Adam(ours), torch.optim.Adam(theirs, betas=(0.9, 0.98), eps=1e-9)
    for number in range(STEPS):
        rate = 1e-3 * (number + 1)
        peer.param_groups[0]["lr"] = rate
        for parameter, other in zip(ours, theirs, strict=True):
            parameter.grad = torch.randn_like(parameter)
            other.grad = parameter.grad.clone()
        optimizer.step(rate)
        peer.step()
    assert optimizer.number == STEPS
    for parameter, other in zip(ours, theirs, strict=True):
        assert torch.equal(parameter, other)
        mean, square = optimizer.moments[parameter]
        assert torch.equal(mean, peer.state[other]["exp_avg"])
        assert torch.equal(square, peer.state[other]["exp_avg_sq"])


def test_a_parameter_without_a_gradient_does_not_change():
    used, unused = nn.Parameter(torch.ones(2)), nn.Parameter(torch.ones(2))
    optimizer = Adam([used, unused])
    used.sum().backward()
    optimizer.step(0.1)
    assert torch.equal(unused, torch.ones(2))
    assert not torch.equal(used, torch.ones(2))
    optimizer.zero_grad()
    assert used.grad is None
