import type { UseFormReturnType } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { type FieldsOfCodes, useFieldProblems } from '../page/use-problem.ts'

interface Submit<Values, Answer> {
  readonly send: (values: Values) => Promise<Answer>
  readonly onDone: (answer: Answer, values: Values) => void
  /** The field that an error without one belongs to, by its code. */
  readonly fields?: FieldsOfCodes
  /** Where the form holds what the gateway names so; the same place when absent. */
  readonly placeOf?: (path: string) => string
}

/** Sends a form; what the gateway refuses stands beside its field, the rest in `problem`. */
export function useSubmit<Values extends Record<string, unknown>, Answer>(
  form: UseFormReturnType<Values>,
  { send, onDone, ...places }: Submit<Values, Answer>,
) {
  const fieldProblems = useFieldProblems()
  const [problem, setProblem] = useState<string>()
  const sending = useMutation({
    mutationFn: send,
    onMutate: () => setProblem(undefined),
    onSuccess: onDone,
    onError: (error) => setProblem(fieldProblems(form, error, places)),
  })
  return {
    problem,
    isPending: sending.isPending,
    submit: form.onSubmit((values) => sending.mutate(values)),
  }
}
