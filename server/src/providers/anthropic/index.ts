import type { Provider } from '../provider.ts'
import { claudeCapabilities } from '../dialects/claude.ts'
import { messagesDialect } from '../dialects/messages.ts'

export const anthropic: Provider = {
  kind: 'anthropic',
  name: 'Anthropic',
  defaultBaseUrl: 'https://api.anthropic.com',
  publicFields: [],
  extraCosts: ['service_tier.priority', 'speed.fast', 'inference_geo', 'web_search', 'code_execution'],
  dialects: {
    messages: messagesDialect({ capabilities: claudeCapabilities }),
  },
}
