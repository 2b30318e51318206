/** What each OpenAI model accepts, wherever it is hosted: OpenAI's own API or Azure. */
import type { Capabilities } from '../../core/protocols/protocol.ts'

export function openAiChatCapabilities(model: string): Partial<Capabilities> {
  return { ...shared(model), customTools: atLeast(model, 5), metadata: true }
}

export function openAiResponsesCapabilities(model: string): Partial<Capabilities> {
  return {
    ...shared(model),
    customTools: atLeast(model, 5),
    // The responses protocol has `file_url`.
    documents: 'url',
    logprobs: !reasons(model),
    hostedTools: ['web-search', 'code-interpreter', 'file-search', 'image-generation'],
  }
}

function shared(model: string): Partial<Capabilities> {
  const always: Partial<Capabilities> = {
    outputTokensField: 'max_completion_tokens',
    strictTools: true,
    documents: 'inline',
    serviceTier: true,
    promptCacheKey: true,
    cacheMarks: atLeast(model, 5.6) ? 'breakpoint' : 'none',
  }
  if (!reasons(model)) return always
  return {
    ...always,
    systemRole: 'developer',
    reasoning: 'effort',
    efforts: effortsOf(model),
    // Reasoning models refuse sampling fields, penalties, log probabilities and stop sequences.
    sampling: 'none',
    penalties: false,
    logprobs: false,
    stopMax: 0,
    verbosity: atLeast(model, 5),
  }
}

/** The o series and everything from GPT-5 on, but not the chat-tuned snapshots. */
function reasons(model: string): boolean {
  return /^(o\d|gpt-[5-9]|codex)/.test(model) && !/-chat(-|$)/.test(model)
}

function effortsOf(model: string): Capabilities['efforts'] {
  // 6.2, and Astra before it, refuse `none` and `minimal`.
  if (atLeast(model, 6.2) || model.startsWith('gpt-6-astra')) return ['low', 'medium', 'high', 'xhigh', 'max']
  if (atLeast(model, 5.6)) return ['none', 'low', 'medium', 'high', 'xhigh', 'max']
  if (atLeast(model, 5.2)) return ['none', 'low', 'medium', 'high', 'xhigh']
  if (atLeast(model, 5.1)) return ['none', 'low', 'medium', 'high']
  return atLeast(model, 5) ? ['minimal', 'low', 'medium', 'high'] : ['low', 'medium', 'high']
}

function atLeast(model: string, version: number): boolean {
  const named = /^gpt-(\d+(?:\.\d+)?)/.exec(model)
  return named !== null && Number(named[1]) >= version
}
