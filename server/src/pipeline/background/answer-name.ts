/** Where the stored answer of an ended task is found, in `VideoTask.state`. */
export const ANSWER_NAME = 'answer'
