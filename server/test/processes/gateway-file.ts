/** The gateway file the started processes share: one funded account, one key, models on a scripted upstream. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

export const KEY = 'sk-gateway-processesprocessesprocessesprocesses001'
export const OWNER = 'owner@example.com'
/** Yuan per million tokens: one token costs one Credit at 1000 Credits a yuan. */
export const PRICE = 1_000

export interface FileOptions {
  readonly upstream: string
  readonly credits?: number
  readonly policy?: object
  readonly monthlyCapYuan?: number
}

/** Writes it into `directory` and returns its path. */
export function writeGatewayFile(directory: string, options: FileOptions): string {
  const path = join(directory, 'gateway.json')
  writeFileSync(path, JSON.stringify(gatewayFile(options)))
  return path
}

function gatewayFile({ upstream, credits = 1_000_000, policy = {}, monthlyCapYuan = 0 }: FileOptions) {
  return {
    settings: { credits_per_yuan: 1000 },
    vendors: [
      {
        code: 'acme',
        name: 'Acme',
        kind: 'openai-compatible',
        base_url: `${upstream}/v1`,
        credentials: [{ name: 'main', secret: 'upstream-secret' }],
      },
    ],
    models: [
      {
        model_id: 'm',
        name: 'M',
        support_features: ['text'],
        context_tokens: 10_000,
        max_output_tokens: 1_000,
        pricing: { billing_modes: ['token'], input_price: PRICE, output_price: PRICE },
        chains: [{ vendor: 'acme', credential: 'main', protocol: 'chat', forward_model_id: 'm-1' }],
      },
    ],
    accounts: [
      {
        email: OWNER,
        role: 'admin',
        credits,
        api_deduction: true,
        monthly_cap_yuan: monthlyCapYuan,
        keys: [{ name: 'laptop', secret: KEY, policy }],
      },
    ],
  }
}
