/** The vendors that a first start offers: one line each, in the order shown. The sandbox needs no key. */
import { anthropicVendor } from './anthropic.ts'
import { arkVendor } from './ark.ts'
import { dashscopeVendor } from './dashscope.ts'
import { deepseekVendor } from './deepseek.ts'
import { googleVendor } from './google.ts'
import { groqVendor } from './groq.ts'
import type { EnvironmentVendor } from './listing.ts'
import { minimaxVendor } from './minimax.ts'
import { mistralVendor } from './mistral.ts'
import { moonshotVendor } from './moonshot.ts'
import { openaiVendor } from './openai.ts'
import { openrouterVendor } from './openrouter.ts'
import { sandboxVendor } from './sandbox.ts'
import { xaiVendor } from './xai.ts'
import { zhipuVendor } from './zhipu.ts'

export const environmentVendors: readonly EnvironmentVendor[] = [
  openaiVendor,
  anthropicVendor,
  googleVendor,
  deepseekVendor,
  xaiVendor,
  mistralVendor,
  dashscopeVendor,
  moonshotVendor,
  zhipuVendor,
  arkVendor,
  minimaxVendor,
  groqVendor,
  openrouterVendor,
  sandboxVendor,
]
