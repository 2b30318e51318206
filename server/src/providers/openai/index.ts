import type { Capabilities } from '../../core/protocols/protocol.ts'
import { below, type FormInput, type FormedRequest, type Provider } from '../provider.ts'
import { chatDialect } from '../dialects/chat.ts'
import { responsesDialect } from '../dialects/responses.ts'

export const openai: Provider = {
  kind: 'openai',
  name: 'OpenAI',
  defaultBaseUrl: 'https://api.openai.com/v1',
  publicFields: [],
  dialects: {
    chat: chatDialect({ capabilities: chatCapabilities }),
    responses: responsesDialect({ form: formResponses, capabilities: responsesCapabilities }),
  },
}

function formResponses(input: FormInput): FormedRequest {
  const path = input.operation === 'count-tokens' ? '/responses/input_tokens' : '/responses'
  return { method: 'POST', url: below(input.baseUrl, path), headers: {} }
}

function chatCapabilities(model: string): Partial<Capabilities> {
  return { ...shared(model), customTools: model.startsWith('gpt-5'), metadata: true }
}

function responsesCapabilities(model: string): Partial<Capabilities> {
  return {
    ...shared(model),
    customTools: model.startsWith('gpt-5'),
    logprobs: !reasons(model),
    hostedTools: ['web-search', 'code-interpreter', 'file-search', 'image-generation'],
  }
}

function shared(model: string): Partial<Capabilities> {
  const common: Partial<Capabilities> = {
    outputTokensField: 'max_completion_tokens',
    strictTools: true,
    documents: 'inline',
    serviceTier: true,
  }
  if (!reasons(model)) return common
  return {
    ...common,
    systemRole: 'developer',
    reasoning: 'effort',
    efforts: effortsOf(model),
    // Reasoning models refuse sampling fields, penalties, log probabilities and stop sequences.
    sampling: 'none',
    penalties: false,
    logprobs: false,
    stopMax: 0,
    verbosity: model.startsWith('gpt-5'),
  }
}

/** The o series and everything from GPT-5 on, but not the chat-tuned snapshots. */
function reasons(model: string): boolean {
  return /^(o\d|gpt-[5-9]|codex)/.test(model) && !/-chat(-|$)/.test(model)
}

function effortsOf(model: string): Capabilities['efforts'] {
  if (/^gpt-5\.[6-9]/.test(model)) return ['none', 'low', 'medium', 'high', 'xhigh', 'max']
  if (/^gpt-5\.[2-5]/.test(model)) return ['none', 'low', 'medium', 'high', 'xhigh']
  if (model.startsWith('gpt-5.1')) return ['none', 'low', 'medium', 'high']
  if (model.startsWith('gpt-5')) return ['minimal', 'low', 'medium', 'high']
  return ['low', 'medium', 'high']
}
