// Aligns the two schedules: as many equal steps as possible that come in the same order in both are shown side by side.

// Indexes of a longest increasing subsequence.
function increasing(values) {
  const ends = [], before = new Array(values.length).fill(-1);
  values.forEach((value, index) => {
    let low = 0, high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (values[ends[middle]] < value) low = middle + 1;
      else high = middle;
    }
    if (low > 0) before[index] = ends[low - 1];
    ends[low] = index;
  });
  const chosen = [];
  for (let index = ends.length ? ends[ends.length - 1] : -1; index >= 0; index = before[index]) chosen.push(index);
  return chosen.reverse();
}

// Rows of {failing, passing}. In rows that are not equal, the two steps are unrelated.
function align() {
  const there = new Map(steps.passing.map((step) => [step.key, step]));
  const both = steps.failing.filter((step) => there.has(step.key));
  for (const step of both) {
    step.other = there.get(step.key);
    step.other.other = step;
    step.kind = step.other.kind = "moved";
  }
  const anchors = increasing(both.map((step) => step.other.index)).map((index) => both[index]);
  for (const step of anchors) step.kind = step.other.kind = "equal";
  const rows = [];
  let failing = 0, passing = 0;
  const between = (failingEnd, passingEnd) => {
    while (failing < failingEnd || passing < passingEnd)
      rows.push({
        failing: failing < failingEnd ? steps.failing[failing++] : null,
        passing: passing < passingEnd ? steps.passing[passing++] : null,
        equal: false,
      });
  };
  for (const anchor of anchors) {
    between(anchor.index, anchor.other.index);
    rows.push({failing: steps.failing[failing++], passing: steps.passing[passing++], equal: true});
  }
  between(steps.failing.length, steps.passing.length);
  rows.forEach((row, number) => {
    for (const side of SIDES) if (row[side]) row[side].row = number;
  });
  return rows;
}

const rows = align();
