/** What the journeys visit: sandbox models under familiar names, a mail server; here as the built process. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Mailbox, openMailbox } from '../../server/test/notify/mailbox.ts'
import { type Launched, launch } from '../../server/test/processes/launch.ts'
import { signInAs } from './api.ts'

export const ADMIN = { email: 'owner@example.com', password: 'a long admin password' }
export const CUSTOMER = { email: 'ann@example.com', password: 'a long customer password' }

export interface Credentials {
  readonly email: string
  readonly password: string
}

export interface JourneyGateway {
  readonly baseUrl: string
  readonly mailbox: Mailbox
  /** Resolves with the token of a new session. */
  signIn(person: Credentials): Promise<string>
  close(): Promise<void>
}

export interface TestGateway extends JourneyGateway {
  readonly directory: string
  readonly running: Launched
}

export interface GatewayOptions {
  readonly file?: object
  /** Of a gateway that ran before. */
  readonly directory?: string
  readonly mailbox?: Mailbox
  /** Beside what every one of them has. */
  readonly environment?: Readonly<Record<string, string>>
  /** File and arguments for Node; the built process when absent. */
  readonly program?: readonly string[]
}

export async function openGateway(options: GatewayOptions = {}): Promise<TestGateway> {
  const directory = options.directory ?? mkdtempSync(join(tmpdir(), 'sluice-console-'))
  const mailbox = options.mailbox ?? (await openMailbox())
  const path = join(directory, 'gateway.json')
  writeFileSync(path, JSON.stringify(options.file ?? gatewayFile()))
  const environment = {
    SLUICE_DATA_DIR: join(directory, 'data'),
    SLUICE_CONFIG: path,
    SLUICE_SMTP_URL: mailbox.url,
    SLUICE_MAIL_FROM: 'sluice@example.com',
    ...options.environment,
  }
  const running = await launch(environment, undefined, options.program)
  // Passkeys are bound to a name; the address of loopback has none.
  const baseUrl = running.baseUrl.replace('127.0.0.1', 'localhost')
  return {
    baseUrl,
    mailbox,
    directory,
    running,
    signIn: async (person) => (await signInAs(baseUrl, person)).token,
    async close() {
      await running.stop()
      await mailbox.close()
      rmSync(directory, { recursive: true })
    },
  }
}

interface SandboxModel {
  readonly id: string
  readonly name: string
  readonly input: number
  readonly output: number
  readonly reasoning?: boolean
}

const MODELS: readonly SandboxModel[] = [
  { id: 'claude-opus-4.8', name: 'Claude Opus 4.8', input: 36, output: 180, reasoning: true },
  { id: 'gpt-5', name: 'GPT-5', input: 9, output: 72 },
  { id: 'claude-sonnet-4.6', name: 'Claude Sonnet 4.6', input: 21.6, output: 108 },
  { id: 'gemini-3-pro', name: 'Gemini 3 Pro', input: 14.4, output: 86.4 },
  { id: 'deepseek-v4', name: 'DeepSeek V4', input: 2, output: 8 },
  { id: 'glm-5', name: 'GLM-5', input: 3, output: 12 },
]

export function gatewayFile() {
  return {
    vendors: [
      { code: 'sandbox', name: 'Sandbox', kind: 'sandbox', credentials: [{ name: 'main', secret: 'none' }] },
    ],
    models: [
      ...MODELS.map(({ id, name, input, output, reasoning }) => ({
        model_id: id,
        name,
        support_features: ['text', 'image'],
        context_tokens: 200_000,
        max_output_tokens: 32_000,
        subscription_covered: true,
        pricing: { input_price: input, output_price: output, cache_input_price: input / 10 },
        chains: [
          {
            vendor: 'sandbox',
            credential: 'main',
            protocol: 'chat',
            forward_model_id: reasoning === true ? 'sandbox-reasoning' : 'sandbox-chat',
          },
        ],
      })),
      {
        model_id: 'kling-v3',
        name: 'Kling 3',
        support_features: ['video'],
        pricing: { billing_modes: ['video_second'], video_price: 0.8 },
        chains: [
          {
            vendor: 'sandbox',
            credential: 'main',
            protocol: 'video',
            forward_model_id: 'sandbox-video',
          },
        ],
      },
    ],
    groups: [{ name: 'claude-code', protocol: 'messages', models: ['claude-opus-4.8', 'claude-sonnet-4.6'] }],
    plans: [
      { code: 'PLUS', level: 1, price: 99, period_days: 30, quota: [{ credits: 20_000, seconds: 18_000 }] },
      {
        code: 'PRO',
        level: 2,
        price: 199,
        period_days: 30,
        quota: [
          { credits: 50_000, seconds: 18_000 },
          { credits: 1_000_000, seconds: 2_592_000 },
        ],
      },
    ],
    accounts: [
      { ...ADMIN, role: 'admin', credits: 100_000, api_deduction: true },
      {
        ...CUSTOMER,
        credits: 412_806,
        balance: 286.4,
        api_deduction: true,
        subscription: { plan: 'PRO', days: 30 },
      },
    ],
  }
}
