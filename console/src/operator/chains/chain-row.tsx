import type { KeyboardEvent } from 'react'
import type { Chain, Probe } from '../../api/operator/chains.ts'
import { LimitBar } from '../../parts/limits/limit-bar.tsx'
import table from '../../parts/lists/table.module.css'
import { classes } from '../../parts/marks/classes.ts'
import { Sign } from '../../parts/marks/icon.tsx'
import { useFormat } from '../../parts/values/format.ts'
import { ChainActions } from './chain-actions.tsx'
import { Health, ResetChain, stateOf, Trouble } from '../parts/chain-health.tsx'
import { Outcomes } from './outcomes.tsx'
import { useProbe } from './use-probe.ts'
import styles from './chains.module.css'
import { useTranslation } from '../../texts/use-translation.ts'

const GRIP = 'M6 4h.01M10 4h.01M6 8h.01M10 8h.01M6 12h.01M10 12h.01'

/** State and actions of dragging a chain. */
export interface Drag {
  readonly dragged: number | undefined
  readonly over: number | undefined
  readonly begin: (id: number) => void
  readonly enter: (id: number) => void
  readonly end: () => void
  readonly drop: (id: number) => void
  /** Moves a chain one place up or down. */
  readonly step: (id: number, by: -1 | 1) => void
}

interface ChainRowProps {
  readonly of: Chain
  readonly place: { readonly at: number; readonly of: number }
  /** Share of the model's calls within the hour, 0 to 1; undefined: there were none. */
  readonly share: number | undefined
  readonly drag: Drag
}

export function ChainRow({ of, place, share, drag }: ChainRowProps) {
  const [probe, setProbe] = useProbe(of.id)
  const state = stateOf(of)
  const isOff = state === 'disabled' || state === 'draining'
  const isTroubled =
    !isOff && state !== 'healthy' && (of.health.last_error !== null || of.health.cause !== null)
  return (
    <>
      <tr
        data-quiet={isOff || undefined}
        data-troubled={isTroubled || probe !== undefined || undefined}
        data-dragged={drag.dragged === of.id || undefined}
        data-over={drag.over === of.id && drag.dragged !== of.id ? true : undefined}
        onDragOver={(event) => {
          if (drag.dragged === undefined) return
          event.preventDefault()
          drag.enter(of.id)
        }}
        onDrop={(event) => {
          event.preventDefault()
          drag.drop(of.id)
        }}
      >
        <td>
          <Grip of={of} place={place} drag={drag} />
        </td>
        <td className={styles.who}>
          <span className={table.first} title={of.credential}>
            {of.vendor}
            {of.credential !== '' && ` · ${of.credential}`}
          </span>
          <span className={table.second} title={of.forward_model_id}>
            <code>{of.forward_model_id}</code> · {of.protocol}
          </span>
        </td>
        <td>
          <Health of={of} />
        </td>
        <Figures of={of} share={share} />
        <td className={table.actions}>
          <ChainActions of={of} onTested={setProbe} />
        </td>
      </tr>
      {probe !== undefined && <Tested probe={probe} />}
      {isTroubled && <TroubleRow of={of} />}
    </>
  )
}

function Grip({ of, place, drag }: Pick<ChainRowProps, 'of' | 'place' | 'drag'>) {
  const { t } = useTranslation()
  const onKeyDown = (event: KeyboardEvent): void => {
    const by = event.key === 'ArrowUp' ? -1 : event.key === 'ArrowDown' ? 1 : undefined
    if (by === undefined) return
    event.preventDefault()
    drag.step(of.id, by)
  }
  return (
    <button
      type="button"
      className={styles.grip}
      draggable
      aria-label={t('chains.grip', {
        priority: of.priority,
        vendor: of.vendor,
        at: place.at + 1,
        count: place.of,
      })}
      title={t('chains.gripHint')}
      onKeyDown={onKeyDown}
      onDragStart={(event) => {
        event.dataTransfer.effectAllowed = 'move'
        event.dataTransfer.setData('text/plain', String(of.id))
        drag.begin(of.id)
      }}
      onDragEnd={drag.end}
    >
      <Sign path={GRIP} size={14} />
      {of.priority}
    </button>
  )
}

function Figures({ of, share }: Pick<ChainRowProps, 'of' | 'share'>) {
  const { t } = useTranslation()
  const format = useFormat()
  const { attempts, failed, first_byte_ms_median: median, first_byte_ms_p95: p95 } = of.recent
  return (
    <>
      <td className={table.wide}>
        <span className={styles.successful}>
          <Outcomes of={of.health} />
          <span title={t('chains.recent', { count: attempts, failed })}>
            {attempts === 0 ? '–' : format.percent((attempts - failed) / attempts, 1)}
          </span>
        </span>
      </td>
      <td className={classes(table.number, table.wide)}>
        {median === null ? '–' : format.duration(median)}
        <span className={table.muted}> / {p95 === null ? '–' : format.duration(p95)}</span>
      </td>
      <td className={table.wide}>
        <span className={styles.shared}>
          <LimitBar
            used={share ?? 0}
            quiet
            label={t('chains.shareOf', { share: format.percent(share ?? 0) })}
          />
          <span>{share === undefined ? '–' : format.percent(share)}</span>
        </span>
      </td>
    </>
  )
}

/** Why a chain is skipped, and the button that resets it. */
function TroubleRow({ of }: { readonly of: Chain }) {
  return (
    <tr className={styles.trouble}>
      <td colSpan={7}>
        <div className={styles.words}>
          <Trouble of={of} />
          <ResetChain of={of} />
        </div>
      </td>
    </tr>
  )
}

/** The outcome of the test call. */
function Tested({ probe }: { readonly probe: Probe }) {
  const { t } = useTranslation()
  const format = useFormat()
  const took = probe.duration_ms === null ? '' : format.duration(probe.duration_ms)
  return (
    <tr className={styles.trouble}>
      <td colSpan={7}>
        <div className={styles.words} role="status">
          <div>
            {probe.ok ? t('chains.testGood', { took }) : t('chains.testBad')}
            {!probe.ok && (
              <code>
                {[probe.status, probe.outcome].filter((each) => each !== null).join(' ')}
                {probe.message === null ? '' : `: ${probe.message}`}
              </code>
            )}
          </div>
        </div>
      </td>
    </tr>
  )
}
