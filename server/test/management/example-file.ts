/** A gateway file that uses every member there is; tests change what they are about. */
import { sampleKind } from './sample-catalogue.ts'

export const EXAMPLE_ENVIRONMENT = {
  OPENAI_API_KEY: 'upstream-openai',
  KLING_ACCESS: 'upstream-access',
  KLING_SECRET: 'upstream-secret',
  OWNER_PASSWORD: 'correct horse',
  MY_OPENAI_KEY: 'customer-openai',
}

export const EXAMPLE_KINDS = [
  ...['openai', 'anthropic', 'kling'].map((kind) => sampleKind(kind)),
  sampleKind('openai-compatible', { baseUrl: undefined }),
]

export const EXAMPLE_FILE = `
settings:
  currency: CNY
  credits_per_yuan: 1000
  timezone: Asia/Shanghai
  key_prefix: sk-gateway-
  limits: {concurrency: 50}
vendors:
  - code: openai
    name: OpenAI
    kind: openai
    base_url: https://api.openai.com/v1
    timeouts: {connect_ms: 4000, first_byte_ms: 100000, idle_ms: 200000}
    credentials:
      - name: main
        secret: \${OPENAI_API_KEY}
        limits: {concurrency: 200, windows: [{dimension: requests, limit: 500, seconds: 60}]}
      - name: spare
        secret: \${OPENAI_SPARE_KEY:-upstream-spare}
  - code: kling
    kind: kling
    credentials:
      - name: signing
        fields: {access_key: "\${KLING_ACCESS}", secret_key: "\${KLING_SECRET}"}
  - code: local
    kind: openai-compatible
    base_url: http://127.0.0.1:11434/v1/
models:
  - model_id: gpt-5
    name: GPT-5
    status: enabled
    client_visible: true
    support_features: [text, image]
    required_verification: 0
    required_plan: 0
    context_tokens: 400000
    max_output_tokens: 128000
    subscription_covered: true
    surcharges: {service_tier.priority: 1.75, web_search_call: {per_call: 0.07}}
    refuse: [speed.fast]
    pricing:
      billing_modes: [token]
      input_price: 9
      output_price: 72
      cache_input_price: 0.9
      cache_output_price: null
      cache_write_price: null
      cache_write_1h_price: null
      request_price: null
      image_price: null
      video_price: null
    chains:
      - vendor: openai
        credential: main
        protocol: chat
        forward_model_id: gpt-5-2025-08-07
        priority: 1
        weight: 100
        rate_multiplier: 1
        stream_usage: forward
        client_gone_grace_ms: 0
        min_bytes_per_second: 20
        capabilities: {reasoning: effort, sampling: none, tools: true, images: url, max_stop: 4}
        status: enabled
      - {vendor: openai, credential: spare, protocol: responses, forward_model_id: gpt-5-2025-08-07, priority: 2, rate_multiplier: 1.05}
      - {vendor: local, protocol: chat}
  - model_id: claude-sonnet-4.5
    client_visible: false
    pricing: {input_price: 0.000001, output_price: "123456789012345678.123456"}
    chains: [{vendor: local, protocol: messages, forward_model_id: claude-sonnet-4-5}]
  - model_id: video-1
    support_features: [video]
    pricing: {billing_modes: [video_second], video_price: 0.5}
    chains: [{vendor: kling, protocol: video}]
groups:
  - {name: claude-code, protocol: messages, models: [claude-sonnet-4.5]}
plans:
  - code: PRO
    level: 2
    price: 199
    period_days: 30
    quota: [{credits: 50000, seconds: 18000}, {credits: 1000000, seconds: 2592000}]
accounts:
  - email: owner@example.com
    password: \${OWNER_PASSWORD}
    role: admin
    status: active
    verification: none
    user_rate: 100
    credits: 100000
    balance: 12.5
    api_deduction: true
    monthly_cap_yuan: 0
    auto_exchange: {enabled: true, below_credits: 1000, step_yuan: 10}
    subscription: {plan: PRO, days: 30}
    fallback_model: gpt-5
    limits: {windows: [{dimension: amount, limit: 0.5, seconds: 60}]}
    byok: [{vendor: openai, secret: "\${MY_OPENAI_KEY}"}]
    keys:
      - name: laptop
        secret: sk-gateway-laptop-0123456789
        status: enabled
        expires_at: 2030-01-31T12:00:00Z
        group: claude-code
        models: [claude-sonnet-4.5]
        ip_allow: [10.0.0.0/8, "::1"]
        policy:
          concurrency: 10
          windows:
            - {dimension: requests, limit: 60, seconds: 60}
            - {dimension: requests, limit: 1000, seconds: 86400}
            - {dimension: tokens, limit: 1000000, seconds: 86400}
            - {dimension: images, limit: 100, seconds: 3600}
            - {dimension: videos, limit: 10, seconds: 86400}
            - {dimension: amount, limit: 5000, seconds: 2592000}
            - {dimension: video_seconds, limit: 60, seconds: 86400}
      - {name: plain}
  - phone: +8613800000000
    status: suspended
    verification: enterprise
    user_rate: 87.5
`
