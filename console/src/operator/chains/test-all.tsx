import { Button } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type Chain, testChain } from '../../api/operator/chains.ts'
import { REFUSED_IN_FRAME } from '../../api/refusal.ts'
import { Confirm } from '../../parts/forms/confirm.tsx'
import { Icon } from '../../parts/marks/icon.tsx'
import { Done } from '../../parts/page/done.tsx'
import { useKeepProbe } from './use-probe.ts'
import { useTranslation } from '../../texts/use-translation.ts'

/** Concurrent tests: few, so that vendors do not rate-limit them. */
const AT_ONCE = 3

interface Tally {
  readonly asked: number
  readonly answered: number
}

/** One real, cheap call over every usable chain; each row shows its own outcome. */
export function TestAll({ of }: { readonly of: readonly Chain[] }) {
  const { t } = useTranslation()
  const [asking, ask] = useState(false)
  const testable = of.filter(({ status, protocol }) => status === 'enabled' && protocol !== 'video')
  const { tally, testing } = useTesting(testable)
  return (
    <>
      <Done
        text={tally === undefined ? undefined : t('chains.tested', { ...tally, count: testable.length })}
      />
      <Button
        variant="default"
        loading={testing.isPending}
        disabled={testable.length === 0}
        leftSection={<Icon name="play" />}
        onClick={() => ask(true)}
      >
        {t('chains.testAll')}
      </Button>
      {asking && (
        <Confirm
          title={t('chains.testAllTitle')}
          action={t('chains.testAll')}
          danger={false}
          onConfirm={() => {
            testing.mutate()
            return Promise.resolve()
          }}
          onClose={() => ask(false)}
        >
          {t('chains.testAllText', { count: testable.length })}
        </Confirm>
      )}
    </>
  )
}

function useTesting(testable: readonly Chain[]) {
  const [tally, count] = useState<Tally>()
  const keep = useKeepProbe()
  const queryClient = useQueryClient()
  const testing = useMutation({
    mutationFn: async () => {
      const waiting = [...testable]
      let sum: Tally = { asked: 0, answered: 0 }
      const work = async (): Promise<void> => {
        for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
          const probe = await testChain(next.id)
          keep(next.id, probe)
          sum = { asked: sum.asked + 1, answered: sum.answered + (probe.ok ? 1 : 0) }
          count(sum)
        }
      }
      await Promise.all(Array.from({ length: AT_ONCE }, work))
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['chains'] }),
    meta: REFUSED_IN_FRAME,
  })
  return { tally, testing }
}
