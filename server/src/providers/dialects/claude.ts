/** What each Claude model accepts, wherever it is hosted: Anthropic's own API, Bedrock or Vertex. */
import type { Effort } from '../../core/canonical/request.ts'
import type { Capabilities } from '../../core/protocols/protocol.ts'

const EVERY_CLAUDE: Partial<Capabilities> = {
  images: 'url',
  documents: 'url',
  strictTools: true,
  // Tool names may have 128 characters (docs/protocols.md#trap-34 is about narrower targets).
  toolNameMax: 128,
  toolIdMax: 256,
  serviceTier: true,
  hostedTools: ['web-search', 'code-interpreter', 'url-context'],
}

const ADAPTIVE_EFFORTS: readonly Effort[] = ['none', 'low', 'medium', 'high', 'max']
const NEWEST_EFFORTS: readonly Effort[] = ['none', 'low', 'medium', 'high', 'xhigh', 'max']
const BUDGET_EFFORTS: readonly Effort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

/** Claude on the clouds fetches no addresses: images and documents must be in the request. */
export function hostedClaudeCapabilities(model: string): Partial<Capabilities> {
  return { ...claudeCapabilities(model), images: 'inline', documents: 'inline' }
}

export function claudeCapabilities(model: string): Partial<Capabilities> {
  const version = claudeVersion(model)
  if (version === undefined || version < 3.7) return { ...EVERY_CLAUDE, prefill: true }
  // From Opus 4.7 on every sampling field is refused but temperature 1 (docs/protocols.md#messages-requests), and so
  // are budgets.
  if (version >= 4.7) {
    return {
      ...EVERY_CLAUDE,
      midSystem: true,
      sampling: 'none',
      topK: false,
      reasoning: 'adaptive',
      efforts: alwaysThinks(model, version) ? NEWEST_EFFORTS.slice(1) : NEWEST_EFFORTS,
      // The models of the 5.5 line and Fable refuse any choice that forces a call.
      forcedTools: !alwaysThinks(model, version) && version < 5.5,
      jsonSchema: true,
    }
  }
  // 4.6 thinks adaptively and no longer continues a trailing assistant message.
  if (version >= 4.6) {
    return {
      ...EVERY_CLAUDE,
      sampling: 'one',
      reasoning: 'adaptive',
      efforts: ADAPTIVE_EFFORTS,
      jsonSchema: true,
    }
  }
  return {
    ...EVERY_CLAUDE,
    prefill: true,
    // From 4.1 on only one of temperature and top_p is accepted.
    sampling: version >= 4.1 ? 'one' : 'all',
    reasoning: 'budget',
    efforts: BUDGET_EFFORTS,
    jsonSchema: version >= 4.5,
  }
}

/** For Fable 5, and Opus from 5.5 on, thinking cannot be turned off. */
function alwaysThinks(model: string, version: number): boolean {
  return model.includes('claude-fable') || (model.includes('claude-opus') && version >= 5.5)
}

/** `claude-opus-4-6`, `claude-3-7-sonnet-20250219`, `anthropic.claude-sonnet-4-5-…-v1:0`, `claude-opus-4-1@20250805`, `claude-opus-4.6`. */
function claudeVersion(model: string): number | undefined {
  const named =
    /claude-[a-z]+-(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/.exec(model) ?? /claude-(\d)(?:[-.](\d))?-/.exec(model)
  if (named === null) return undefined
  return Number(named[1]) + Number(named[2] ?? 0) / 10
}
