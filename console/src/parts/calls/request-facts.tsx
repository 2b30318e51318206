import type { LoggedCall } from './log-source.ts'
import { type Fact, Facts } from '../lists/facts.tsx'
import { useFormat } from '../values/format.ts'
import sheet from '../forms/sheet.module.css'
import { useTranslation } from '../../texts/use-translation.ts'

/** Facts of the request, and the response headers. */
export function RequestFacts({ call }: { readonly call: LoggedCall }) {
  const { t } = useTranslation()
  const format = useFormat()
  const rows: readonly Fact[] = [
    [t('calls.endpoint'), call.endpoint, 'code'],
    [
      t('calls.protocol'),
      [
        call.upstream_protocol === null || call.upstream_protocol === call.client_protocol
          ? call.client_protocol
          : `${call.client_protocol} → ${call.upstream_protocol}`,
        ...(call.stream ? [t('calls.streamed')] : []),
      ].join(', '),
    ],
    [
      t('calls.status'),
      call.code === null
        ? String(call.http_status)
        : `${call.http_status}, ${[t('calls.code', { code: call.code }), ...(call.message === null ? [] : [call.message])].join(': ')}`,
    ],
    ...optional(t('calls.fields.app_id'), call.app_id),
    ...optional(t('calls.fields.custom_id'), call.custom_id),
    ...optional(t('calls.fields.user'), call.user),
    [t('calls.countedBy'), <CountedBy key="counted" call={call} />],
    ...(call.characters === 0 ? [] : [[t('dimensions.characters'), format.number(call.characters)] as const]),
    ...(call.audio_seconds === 0
      ? []
      : [[t('dimensions.audio_seconds'), format.number(call.audio_seconds, 2)] as const]),
    ...(call.images === 0 ? [] : [[t('dimensions.images'), format.number(call.images)] as const]),
    ...(call.seconds_produced === null
      ? []
      : [[t('dimensions.video_seconds'), format.number(call.seconds_produced, 2)] as const]),
    [t('calls.ended'), format.moment(call.ended_at)],
  ]
  return (
    <>
      <section className={sheet.part}>
        <h3>{t('calls.request')}</h3>
        <Facts rows={rows} />
      </section>
      <Headers call={call} />
    </>
  )
}

function Headers({ call }: { readonly call: LoggedCall }) {
  const { t } = useTranslation()
  return (
    <section className={sheet.part}>
      <h3>{t('calls.headers')}</h3>
      <Facts
        rows={[
          ...(call.model === null ? [] : [['gw-model', call.model, 'code'] as const]),
          ...(call.dropped_fields.length === 0
            ? []
            : [['gw-dropped-fields', call.dropped_fields.join(','), 'code'] as const]),
          ['x-request-id', call.request_id, 'code'],
        ]}
      />
    </section>
  )
}

/** Who counted the tokens, and how many output tokens are reasoning. */
function CountedBy({ call }: { readonly call: LoggedCall }) {
  const { t } = useTranslation()
  const format = useFormat()
  const { usage_source: source, usage } = call
  if (source === null) return '–'
  const reasoning = usage.reasoning ?? 0
  return [
    t(`calls.sources.${source}`),
    ...(reasoning === 0
      ? []
      : [t('calls.reasoning', { count: reasoning, tokens: format.number(reasoning) })]),
  ].join('; ')
}

function optional(name: string, value: string | null): readonly Fact[] {
  return value === null ? [] : [[name, value, 'code']]
}
