import type { Provider } from '../provider.ts'
import { geminiDialect, geminiModelCapabilities, modelBelow } from '../dialects/gemini.ts'

export const google: Provider = {
  kind: 'google',
  name: 'Google',
  defaultBaseUrl: 'https://generativelanguage.googleapis.com/v1beta',
  publicFields: [],
  dialects: {
    gemini: geminiDialect({
      auth: { kind: 'header', name: 'x-goog-api-key' },
      modelUrl: (input) => modelBelow(input.baseUrl, input.forwardModelId),
      capabilities: geminiModelCapabilities,
    }),
  },
}
