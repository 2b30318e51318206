import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type Chain, chainsQuery, changeChain } from '../../api/operator/chains.ts'
import table from '../../parts/lists/table.module.css'
import { classes } from '../../parts/marks/classes.ts'
import { FormProblem } from '../../parts/page/problem.tsx'
import { useProblemText } from '../../parts/page/use-problem.ts'
import { ChainRow, type Drag } from './chain-row.tsx'
import styles from './chains.module.css'
import { moved } from './priority.ts'
import { useTranslation } from '../../texts/use-translation.ts'

interface ModelChainsProps {
  readonly model: string
  readonly chains: readonly Chain[]
}

/** The chains of one model; a row is dragged to another place, or moved by the arrow keys. */
export function ModelChains({ model, chains }: ModelChainsProps) {
  const { t } = useTranslation()
  const problemText = useProblemText()
  const order = chains.toSorted((one, other) => one.priority - other.priority || one.id - other.id)
  const attempts = order.reduce((sum, { recent }) => sum + recent.attempts, 0)
  const { drag, error } = useDrag(order)
  return (
    <>
      <table className={classes(table.table, styles.rows)} aria-label={t('chains.of', { model })}>
        <thead>
          <tr>
            <th className={styles.place}>{t('chains.priority')}</th>
            <th>{t('chains.who')}</th>
            <th className={styles.health}>{t('chains.health')}</th>
            <th className={classes(styles.success, table.wide)}>{t('chains.success')}</th>
            <th className={classes(styles.first, table.number, table.wide)}>{t('chains.firstByte')}</th>
            <th className={classes(styles.share, table.wide)}>{t('chains.share')}</th>
            <th className={styles.acts}>
              <span className={table.unseen}>{t('actions')}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {order.map((chain, index) => (
            <ChainRow
              key={chain.id}
              of={chain}
              place={{ at: index, of: order.length }}
              share={attempts === 0 ? undefined : chain.recent.attempts / attempts}
              drag={drag}
            />
          ))}
        </tbody>
      </table>
      <FormProblem text={error === null ? undefined : problemText(error)} />
    </>
  )
}

function useDrag(order: readonly Chain[]): { readonly drag: Drag; readonly error: unknown } {
  const queryClient = useQueryClient()
  const [dragged, begin] = useState<number>()
  const [over, enter] = useState<number>()
  const move = useMutation({
    mutationFn: async ({ id, place }: { readonly id: number; readonly place: number }) => {
      const changes = moved(order, id, place)
      const priorities = new Map(changes.map((change) => [change.id, change.priority]))
      queryClient.setQueryData(chainsQuery.queryKey, (all) =>
        all?.map((chain) => ({ ...chain, priority: priorities.get(chain.id) ?? chain.priority })),
      )
      for (const { id: each, priority } of changes) await changeChain(each, { priority })
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: chainsQuery.queryKey }),
  })
  const placeOf = (id: number): number => order.findIndex((chain) => chain.id === id)
  const end = (): void => {
    begin(undefined)
    enter(undefined)
  }
  return {
    error: move.error,
    drag: {
      dragged,
      over,
      begin,
      enter,
      end,
      drop: (id) => {
        if (dragged !== undefined && dragged !== id && placeOf(dragged) >= 0)
          move.mutate({ id: dragged, place: placeOf(id) })
        end()
      },
      step: (id, by) => {
        const place = placeOf(id) + by
        if (place >= 0 && place < order.length && !move.isPending) move.mutate({ id, place })
      },
    },
  }
}
