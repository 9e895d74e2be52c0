// All searches: --strategy and its help. To add one: its file, a line here, a line in explorer/meson.build.
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
      {"auto", "the default: suspicious places first, then several of the others in turns", make_auto},
      {"active", "stops threads at suspicious accesses until two meet, one suspicion a run", make_active},
      {"random", "at each schedule point any thread, equally likely", make_random},
      {"pct", "random priorities with a few random change points", make_pct},
      {"pctvb", "pct with its change points at accesses of a random variable", make_pctvb},
      {"pos", "partial order sampling: each order of conflicting operations about as likely", make_pos},
      {"surw", "each order of the accesses of a random variable equally likely", make_surw},
      {"flips", "orders of two operations that no run has shown, each alone in a run that was made", make_flips},
      {"goexplore", "returns to rarely seen states of earlier runs and goes on from there at random", make_goexplore},
      {"dfs", "every schedule, depth first", make_dfs},
      {"pcb", "every schedule, those with fewer preemptions first", make_pcb},
      {"dpor", "one schedule of each class of equivalent ones (source sets, sleep sets)", make_dpor},
      {"hapset", "dpor, leaving out orders of statements that a good run had", make_hapset},
      {"ranked", "few variables, preemptions and threads first (RankChecker)", make_ranked},
      {"chaos", "changing random priorities and slices; what record --chaos does", make_chaos},
      {"native", "time slices, as an operating system gives them", make_native},
  };
  return rows;
}

const SearchRow* find_search(const std::string& name) {
  for (const SearchRow& row : all_searches())
    if (row.name == name) return &row;
  return nullptr;
}

}  // namespace reweave
