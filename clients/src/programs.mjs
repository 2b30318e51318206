/** How each client is started, as its users do it: environment, configuration files, arguments. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const TASK =
  'Read the file input.txt in this folder, then write its word in capitals into output.txt, then say the word.'

export const PROGRAMS = {
  claude: {
    title: 'Claude Code',
    protocol: 'messages',
    start: ({ home, url, key, model }) => ({
      args: ['-p', TASK, '--permission-mode', 'acceptEdits', '--allowedTools', 'Read', 'Write'],
      env: {
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_AUTH_TOKEN: key,
        ANTHROPIC_MODEL: model,
        ANTHROPIC_SMALL_FAST_MODEL: model,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_AUTOUPDATER: '1',
        CLAUDE_CONFIG_DIR: join(home, '.claude'),
      },
    }),
  },
  codex: {
    title: 'Codex',
    protocol: 'responses',
    start({ home, url, key, model }) {
      const folder = join(home, '.codex')
      mkdirSync(folder, { recursive: true })
      writeFileSync(
        join(folder, 'config.toml'),
        `model = "${model}"
model_provider = "sluice"

[model_providers.sluice]
name = "Sluice"
base_url = "${url}/v1"
env_key = "SLUICE_KEY"
wire_api = "responses"
`,
      )
      return {
        args: ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', TASK],
        env: { CODEX_HOME: folder, SLUICE_KEY: key },
      }
    },
  },
  gemini: {
    title: 'Gemini CLI',
    protocol: 'gemini',
    start({ home, url, key, model }) {
      const folder = join(home, '.gemini')
      mkdirSync(folder, { recursive: true })
      writeFileSync(
        join(folder, 'settings.json'),
        JSON.stringify({
          security: { auth: { selectedType: 'gemini-api-key' } },
          general: { enableAutoUpdate: false },
          telemetry: { enabled: false },
          privacy: { usageStatisticsEnabled: false },
        }),
      )
      return {
        args: ['-p', TASK, '--yolo', '-m', model],
        env: {
          GEMINI_API_KEY: key,
          GOOGLE_GEMINI_BASE_URL: url,
          GEMINI_CLI_TRUST_WORKSPACE: 'true',
        },
      }
    },
  },
  opencode: {
    title: 'OpenCode',
    protocol: 'chat',
    start({ home, url, key, model, work }) {
      writeFileSync(
        join(work, 'opencode.json'),
        JSON.stringify({
          $schema: 'https://opencode.ai/config.json',
          autoupdate: false,
          share: 'disabled',
          permission: { edit: 'allow', bash: 'allow' },
          provider: {
            sluice: {
              npm: '@ai-sdk/openai-compatible',
              name: 'Sluice',
              options: { baseURL: `${url}/v1`, apiKey: key },
              models: {
                [model]: { name: model, tool_call: true, limit: { context: 200_000, output: 8_000 } },
              },
            },
          },
        }),
      )
      return {
        args: ['run', '-m', `sluice/${model}`, TASK],
        env: { XDG_DATA_HOME: join(home, 'data'), XDG_CONFIG_HOME: join(home, 'config') },
      }
    },
  },
}
