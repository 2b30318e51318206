import sheet from '../forms/sheet.module.css'
import { useFormat } from '../values/format.ts'
import styles from './call-sheet.module.css'
import type { LoggedCall } from './log-source.ts'
import { useSkipReason } from './use-skip-reason.ts'
import { useTranslation } from '../../texts/use-translation.ts'

const TICKS = 4
type Attempt = LoggedCall['attempts'][number]

/** The attempts in order, with the time each spent waiting and streaming. */
export function Attempts({ call }: { readonly call: LoggedCall }) {
  const { t } = useTranslation()
  const format = useFormat()
  const { attempts } = call
  const end = Math.max(1, ...attempts.map(({ ended_ms }) => ended_ms))
  return (
    <section className={sheet.part}>
      <div className={sheet.partHead}>
        <h3>{t('calls.attempts')}</h3>
        <ul className={styles.legend} aria-hidden="true">
          {(['wait', 'stream', 'fail'] as const).map((kind) => (
            <li key={kind}>
              <i data-kind={kind} />
              {t(`calls.phases.${kind}`)}
            </li>
          ))}
        </ul>
      </div>
      {attempts.length === 0 ? (
        <p className={sheet.note}>{t('calls.noAttempts')}</p>
      ) : (
        <ol className={styles.fall}>
          {attempts.map((attempt, index) => (
            <Lane key={index} attempt={attempt} end={end} />
          ))}
          <li className={styles.axis} aria-hidden="true">
            <span />
            <span className={styles.ticks}>
              {Array.from({ length: TICKS + 1 }, (_, tick) => (
                <span key={tick}>{format.duration((end / TICKS) * tick)}</span>
              ))}
            </span>
            <span />
          </li>
        </ol>
      )}
    </section>
  )
}

function Lane({ attempt, end }: { readonly attempt: Attempt; readonly end: number }) {
  const { t } = useTranslation()
  const format = useFormat()
  const skipReason = useSkipReason()
  const { outcome, status, why } = attempt
  const failed = outcome !== 'answered'
  const took = format.duration(attempt.ended_ms - attempt.started_ms)
  const known = WHYS.find((each) => each === why)
  return (
    <li>
      <span className={styles.who}>
        {attempt.vendor_code}
        <span>{attempt.model}</span>
      </span>
      <LaneBar attempt={attempt} end={end} />
      <span className={styles.took}>{took}</span>
      <span className={styles.words} data-failed={failed || undefined}>
        {[
          known === undefined ? why : t(`calls.whys.${known}`),
          ...(failed ? [status === null ? outcome : `${status} ${outcome}`] : []),
          ...(attempt.cooldown_ms === null
            ? []
            : [t('calls.cooled', { time: format.duration(attempt.cooldown_ms) })]),
          ...attempt.skipped.map(({ chain_id, reason }) =>
            t('calls.skipped', { chain: chain_id, reason: skipReason(reason) }),
          ),
        ].join(' · ')}
      </span>
      {typeof attempt.said === 'string' && <q className={styles.said}>{attempt.said}</q>}
    </li>
  )
}

function LaneBar({ attempt, end }: { readonly attempt: Attempt; readonly end: number }) {
  const { t } = useTranslation()
  const format = useFormat()
  const { started_ms, first_byte_ms, ended_ms, outcome } = attempt
  const failed = outcome !== 'answered'
  const first = first_byte_ms ?? ended_ms
  const share = (ms: number): string => `${(Math.max(0, ms) / end) * 100}%`
  const took = format.duration(ended_ms - started_ms)
  return (
    <svg
      className={styles.lane}
      role="img"
      aria-label={t('calls.laneLabel', {
        vendor: attempt.vendor_code,
        outcome: failed ? outcome : t('endings.complete'),
        took,
      })}
    >
      {failed ? (
        <rect
          data-kind="fail"
          x={share(started_ms)}
          width={share(ended_ms - started_ms)}
          y="10"
          height="10"
        />
      ) : (
        <>
          <rect data-kind="wait" x={share(started_ms)} width={share(first - started_ms)} y="10" height="10" />
          <rect data-kind="stream" x={share(first)} width={share(ended_ms - first)} y="10" height="10" />
          <line x1={share(first)} x2={share(first)} y1="6" y2="24" />
        </>
      )}
    </svg>
  )
}

const WHYS = ['priority', 'weight', 'failover', 'fallback', 'retry', 'pinned'] as const
