// All searches, for --strategy and its help. To add one, add its file, two lines here and a line in
// explorer/meson.build.
#include "explorer/searches/search.h"

namespace reweave {

#define MAKER(name) std::unique_ptr<Search> make_##name(const SearchOptions&)
MAKER(auto);
MAKER(active);
MAKER(native);
MAKER(chaos);
MAKER(random);
MAKER(pct);
MAKER(pctvb);
MAKER(pos);
MAKER(surw);
MAKER(dfs);
MAKER(pcb);
MAKER(dpor);
MAKER(goexplore);
MAKER(flips);
MAKER(hapset);
MAKER(ranked);
#undef MAKER

const std::vector<SearchRow>& all_searches() {
  static const std::vector<SearchRow> rows = {
      {"auto", "the default: suspicious places first, then several of the others in turns", true, make_auto},
      {"active", "stops threads at suspicious accesses until two meet, one suspicion a run", false, make_active},
      {"random", "any thread at each schedule point, all equally likely", true, make_random},
      {"pct", "random priorities with a few random change points", true, make_pct},
      {"pctvb", "pct with its change points at accesses of a random variable", true, make_pctvb},
      {"pos", "partial order sampling: each order of conflicting operations about as likely", true, make_pos},
      {"surw", "each order of the accesses of a random variable equally likely", true, make_surw},
      {"flips",
       "takes an earlier run and reverses the order of two operations, if no run has had them in that order yet", false,
       make_flips},
      {"goexplore", "returns to rarely seen states of earlier runs and continues at random", true, make_goexplore},
      {"dfs", "every schedule, depth first", false, make_dfs},
      {"pcb", "every schedule, those with fewer preemptions first", false, make_pcb},
      {"dpor", "one schedule of each class of equivalent ones (source sets, sleep sets)", false, make_dpor},
      {"hapset", "dpor, leaving out orders of statements that a good run had", false, make_hapset},
      {"ranked", "few variables, preemptions and threads first (RankChecker)", false, make_ranked},
      {"chaos", "changing random priorities and slices; what record --chaos does", true, make_chaos},
      {"native", "time slices, as an operating system gives them", true, make_native},
  };
  return rows;
}

const SearchRow* find_search(const std::string& name) {
  for (const SearchRow& row : all_searches())
    if (row.name == name) return &row;
  return nullptr;
}

}  // namespace reweave
