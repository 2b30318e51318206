import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Problem } from '../page/problem.tsx'
import sheet from '../forms/sheet.module.css'
import { type Explained, type ExplainQuestion, questionLike } from './explain.ts'
import { Explanation } from './explanation.tsx'
import type { LoggedCall } from './log-source.ts'
import { useTranslation } from '../../texts/use-translation.ts'

interface ExplainPartProps {
  readonly call: LoggedCall
  /** Asks for an explanation; nothing is sent upstream or charged. */
  readonly ask: (question: ExplainQuestion) => Promise<Explained>
}

/** Explains what would happen to the same call now, if the gateway can tell. */
export function ExplainPart({ call, ask }: ExplainPartProps) {
  const { t } = useTranslation()
  const question = questionLike(call)
  const explain = useMutation({ mutationFn: ask })
  if (question === undefined) return null
  return (
    <section className={sheet.part}>
      <div className={sheet.partHead}>
        <h3>{t('explain.title')}</h3>
        <Button
          variant="default"
          size="xs"
          loading={explain.isPending}
          onClick={() => explain.mutate(question)}
        >
          {t('explain.again')}
        </Button>
      </div>
      {explain.error !== null && <Problem error={explain.error} />}
      {explain.data !== undefined && <Explanation of={explain.data} />}
    </section>
  )
}
